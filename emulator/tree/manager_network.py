"""The network of managers: ports, protocols and interfaces to the host."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.ethernet_interfaces import KIND

_WRITABLE = (
    "HostName",
    "FQDN",
    "NameServers",
    "StaticNameServers",
    "IPv4Addresses",
    "IPv4StaticAddresses",
    "DHCPv4",
    "DHCPv6",
)


def network(persona: Persona, path: str, port: str, *, outward: bool) -> Iterator[Entry]:
    """The port and the protocols of the manager at `path`; `outward`: the port is on the network of the site."""
    ports = f"{path}/EthernetInterfaces"
    yield collection(ports, "EthernetInterfaceCollection", "Ethernet Network Interface Collection", [port])
    properties = _port(persona, path, outward=outward)
    yield resource(f"{ports}/{port}", KIND, "Manager Ethernet Interface", properties)
    yield _protocols(f"{path}/NetworkProtocol", properties["HostName"], properties["FQDN"])


def _port(persona: Persona, path: str, *, outward: bool) -> Document:
    mac = "${mac:-1}" if outward else "${mac:-2}"
    return {
        "Description": "Management Network Interface" if outward else "Interface to the BMC of the host",
        "InterfaceEnabled": True,
        "LinkStatus": "LinkUp",
        "MACAddress": mac,
        "PermanentMACAddress": mac,
        "SpeedMbps": persona.bmc.port_mbps if outward else 480,
        "AutoNeg": True,
        "FullDuplex": True,
        "MTUSize": 1500,
        "HostName": "bmc-${name}" if outward else path.rsplit("/", 1)[-1].lower(),
        "FQDN": "bmc-${name}.example" if outward else None,
        "VLAN": {"VLANEnable": False, "VLANId": 1, "VLANPriority": 0, "Tagged": False},
        "DHCPv4": {"DHCPEnabled": outward, "UseDNSServers": outward, "UseGateway": outward, "UseDomainName": outward},
        "DHCPv6": {"OperatingMode": "Disabled", "UseDNSServers": False, "UseDomainName": False},
        "StatelessAddressAutoConfig": {"IPv4AutoConfigEnabled": False, "IPv6AutoConfigEnabled": True},
        **_addresses(outward=outward),
        "Status": HEALTHY,
        "@Redfish.WriteableProperties": list(_WRITABLE),
    }


def _addresses(*, outward: bool) -> Document:
    inner = {"Address": "192.168.31.1", "SubnetMask": "255.255.255.0", "AddressOrigin": "Static", "Gateway": None}
    outer = {"Address": "${address}", "SubnetMask": "255.0.0.0", "AddressOrigin": "DHCP", "Gateway": "127.0.0.1"}
    local = {"Address": "fe80::7ec2:55ff:fe6d:a992", "PrefixLength": 64}
    return {
        "IPv4Addresses": [outer if outward else inner],
        "IPv4StaticAddresses": [] if outward else [inner],
        "IPv6Addresses": [{**local, "AddressOrigin": "LinkLocal", "AddressState": "Preferred"}],
        "IPv6StaticAddresses": [],
        "IPv6StaticDefaultGateways": [],
        "IPv6DefaultGateway": None,
        "IPv6AddressPolicyTable": [],
        "NameServers": ["127.0.0.1"] if outward else [],
        "StaticNameServers": [],
    }


def _protocols(path: str, host: str, domain: str | None) -> Entry:
    properties: Document = {
        "Description": "Network services of the manager",
        "HostName": host,
        "FQDN": domain,
        "HTTP": {"ProtocolEnabled": False, "Port": 80},
        "HTTPS": {"ProtocolEnabled": True, "Port": 443},
        "SSH": {"ProtocolEnabled": True, "Port": 22},
        "IPMI": {"ProtocolEnabled": False, "Port": 623},
        "KVMIP": {"ProtocolEnabled": True, "Port": 5900},
        "NTP": {"ProtocolEnabled": True, "NTPServers": []},
        "SSDP": {
            "ProtocolEnabled": False,
            "Port": 1900,
            "NotifyMulticastIntervalSeconds": 600,
            "NotifyTTL": 2,
            "NotifyIPv6Scope": "Link",
            "@Redfish.WriteableProperties": [
                "ProtocolEnabled",
                "NotifyMulticastIntervalSeconds",
                "NotifyTTL",
                "NotifyIPv6Scope",
            ],
        },
        "Status": HEALTHY,
    }
    kind = "ManagerNetworkProtocol.v1_9_0.ManagerNetworkProtocol"
    return resource(path, kind, "Manager Network Protocol", properties)


def host_interface(persona: Persona, identity: str) -> Iterator[Entry]:
    """How the host reaches its BMC."""
    path = f"{places.bmc(persona)}/HostInterfaces"
    yield collection(path, "HostInterfaceCollection", "Host Interface Collection", [identity])
    properties = {
        "HostInterfaceType": "NetworkHostInterface",
        "InterfaceEnabled": True,
        "ExternallyAccessible": False,
        "AuthenticationModes": ["BasicAuth", "RedfishSessionAuth"],
        "CredentialBootstrapping": {"Enabled": True, "EnableAfterReset": True, "RoleId": "Administrator"},
        "NetworkProtocol": link(f"{places.bmc(persona)}/NetworkProtocol"),
        "Links": {"ComputerSystems": links([places.host(persona)])},
        "Status": HEALTHY,
    }
    yield resource(f"{path}/{identity}", "HostInterface.v1_3_0.HostInterface", "Host Interface", properties)
