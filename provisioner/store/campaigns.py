"""Campaigns in SQL."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection, and_, func, or_, select, update
from sqlalchemy import insert as plain_insert

from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.campaign import Campaign, CampaignLimits, CampaignLine, CampaignState, Member, MemberState
from provisioner.models.event import EventKind
from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.store.audit import write_audit_if_given
from provisioner.store.campaign_tables import CAMPAIGN_LINES, CAMPAIGN_MEMBERS, CAMPAIGNS
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database
from provisioner.store.events import event_row, write_events
from provisioner.store.inserts import insert_if_new
from provisioner.store.locks import Lock, hold_lock

_MEMBERS = CAMPAIGN_MEMBERS.c
_BATCH = 500
"""Rows per statement."""


class SqlCampaigns:
    """`Campaigns` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def add(self, campaign: Campaign, *, audit: AuditEntry | None = None) -> bool:
        """As the protocol says."""
        return await self._database.write(partial(_add, campaign=campaign, audit=audit))

    async def get(self, name: str) -> Campaign:
        """Raises `NotFound`."""
        found = await self._database.read(partial(_read, names=(name,)))
        if not found:
            raise NotFound(f"no campaign is called {name}")
        return found[0]

    async def page(self, state: CampaignState | None, after: str | None, limit: int) -> Sequence[Campaign]:
        """As the protocol says."""
        return await self._database.read(partial(_page, state=state, after=after, limit=limit))

    async def counts(self) -> Mapping[CampaignState, int]:
        """As the protocol says."""
        query = select(CAMPAIGNS.c.state, func.count()).group_by(CAMPAIGNS.c.state)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return dict.fromkeys(CampaignState, 0) | {CampaignState(state): count for state, count in rows}

    async def unended(self) -> Sequence[str]:
        """As the protocol says."""
        query = select(CAMPAIGNS.c.name).where(CAMPAIGNS.c.ended_at.is_(None)).order_by(CAMPAIGNS.c.started_at)
        return await self._database.read(lambda connection: list(connection.scalars(query)))

    async def history(self, name: str) -> Sequence[CampaignLine]:
        """Oldest first."""
        lines = CAMPAIGN_LINES.c
        query = select(lines.at, lines.what).where(lines.campaign == name).order_by(lines.id)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [CampaignLine(row.at, row.what) for row in rows]

    async def claim(self, name: str, holder: str, at: datetime, until: datetime) -> bool:
        """As the protocol says."""
        columns = CAMPAIGNS.c
        free = or_(columns.holder.is_(None), columns.holder == holder, columns.leased_until <= at)
        statement = update(CAMPAIGNS).where(columns.name == name, columns.ended_at.is_(None), free)
        taken = statement.values(holder=holder, leased_until=until)
        return await self._database.write(lambda connection: connection.execute(taken).rowcount > 0)

    async def may_move(self, name: str, node: NodeName, generation: int) -> bool:
        """As the protocol says."""
        query = select(_MEMBERS.node).join(CAMPAIGNS, CAMPAIGNS.c.name == _MEMBERS.campaign)
        turn = (_MEMBERS.node == node, _MEMBERS.generation == generation, _MEMBERS.state == MemberState.MOVING.value)
        running = query.where(CAMPAIGNS.c.name == name, CAMPAIGNS.c.state == CampaignState.RUNNING.value, *turn)
        return await self._database.read_row(lambda connection: connection.scalar(running)) is not None

    async def keep(
        self,
        seen: Campaign,
        now: Campaign,
        at: datetime,
        *,
        told: Sequence[str],
        nodes: Mapping[NodeName, str],
        audit: AuditEntry | None = None,
    ) -> bool:
        """As the protocol says."""
        events = [event_row(at, node, EventKind.OBSERVED, what) for node, what in nodes.items()]
        lines = [{"campaign": seen.name, "at": at, "what": what} for what in told]

        def change(connection: Connection) -> bool:
            if not _replace(connection, seen, now):
                return False
            if lines:
                connection.execute(plain_insert(CAMPAIGN_LINES), lines)
            write_audit_if_given(connection, audit)
            if events:
                write_events(connection, events)
            return True

        return await self._database.write(change, bool if events else lambda _: False)


def _add(connection: Connection, *, campaign: Campaign, audit: AuditEntry | None) -> bool:
    """One campaign at a time is added, so that of two with one node the second one sees the first."""
    hold_lock(connection, Lock.CAMPAIGN)
    if not insert_if_new(connection, table=CAMPAIGNS, values=_values(campaign)):
        return False
    nodes = [one.node for one in campaign.members]
    for start in range(0, len(nodes), _BATCH):
        _refuse_taken(connection, nodes[start : start + _BATCH])
    rows = [{"campaign": campaign.name, "place": place, **_member_values(one)} for place, one in _placed(campaign)]
    connection.execute(plain_insert(CAMPAIGN_MEMBERS), rows)
    line = {"campaign": campaign.name, "at": campaign.started_at, "what": f"started by {campaign.who}"}
    connection.execute(plain_insert(CAMPAIGN_LINES), [line])
    write_audit_if_given(connection, audit)
    return True


def _placed(campaign: Campaign) -> Sequence[tuple[int, Member]]:
    return list(enumerate(campaign.members))


def _refuse_taken(connection: Connection, nodes: Sequence[NodeName]) -> None:
    query = (
        select(_MEMBERS.node, CAMPAIGNS.c.name)
        .join(CAMPAIGNS, CAMPAIGNS.c.name == _MEMBERS.campaign)
        .where(_MEMBERS.node.in_(nodes), CAMPAIGNS.c.ended_at.is_(None))
        .order_by(_MEMBERS.node)
    )
    taken = connection.execute(query).first()
    if taken is not None:
        raise Conflict(f"{taken.node} is in campaign {taken.name}, which has not ended: wait for its end, or abort it")


def _replace(connection: Connection, seen: Campaign, now: Campaign) -> bool:
    values = {"state": now.state.value, "why": now.why, "ended_at": now.ended_at, "revision": seen.revision + 1}
    as_seen = update(CAMPAIGNS).where(CAMPAIGNS.c.name == seen.name, CAMPAIGNS.c.revision == seen.revision)
    if connection.execute(as_seen.values(**values)).rowcount == 0:
        return False
    for place, (before, after) in enumerate(zip(seen.members, now.members, strict=True)):
        if before != after:
            where = (_MEMBERS.campaign == seen.name, _MEMBERS.place == place)
            connection.execute(update(CAMPAIGN_MEMBERS).where(*where).values(**_member_values(after)))
    return True


def _page(connection: Connection, *, state: CampaignState | None, after: str | None, limit: int) -> list[Campaign]:
    columns = CAMPAIGNS.c
    query = select(columns.name).order_by(columns.started_at.desc(), columns.name.desc()).limit(limit)
    if state is not None:
        query = query.where(columns.state == state.value)
    if after is not None:
        last = connection.execute(select(columns.started_at, columns.name).where(columns.name == after)).first()
        if last is None:
            raise NotFound(f"no campaign is called {after}")
        same_moment = and_(columns.started_at == last.started_at, columns.name < last.name)
        query = query.where(or_(columns.started_at < last.started_at, same_moment))
    return _read(connection, names=list(connection.scalars(query)))


def _read(connection: Connection, *, names: Sequence[str]) -> list[Campaign]:
    newest_first = (CAMPAIGNS.c.started_at.desc(), CAMPAIGNS.c.name.desc())
    campaigns = select(CAMPAIGNS).where(CAMPAIGNS.c.name.in_(names)).order_by(*newest_first)
    ordered = select(CAMPAIGN_MEMBERS).order_by(_MEMBERS.campaign, _MEMBERS.place)
    members = ordered.where(_MEMBERS.campaign.in_(names))
    by_campaign: dict[str, list[Member]] = defaultdict(list)
    rows = connection.execute(campaigns).all()
    for row in connection.execute(members):
        by_campaign[row.campaign].append(_member(row))
    return [_campaign(row, tuple(by_campaign[row.name])) for row in rows]


def _values(campaign: Campaign) -> dict[str, object]:
    return {
        "name": campaign.name,
        "release": campaign.release,
        "digest": campaign.digest,
        "hardware_class": campaign.hardware_class,
        "per_rack": campaign.limits.per_rack,
        "per_site": campaign.limits.per_site,
        "canaries": campaign.limits.canaries,
        "ready_within_seconds": campaign.ready_within.total_seconds(),
        "who": campaign.who,
        "started_at": campaign.started_at,
        "state": campaign.state.value,
        "why": campaign.why,
        "ended_at": campaign.ended_at,
        "revision": campaign.revision,
    }


def _member_values(member: Member) -> dict[str, object]:
    return {
        "node": member.node,
        "rack": member.rack,
        "state": member.state.value,
        "generation": member.generation,
        "since": member.since,
        "why": member.why,
    }


def _campaign(row: AnyRow, members: tuple[Member, ...]) -> Campaign:
    return Campaign(
        name=row.name,
        release=row.release,
        digest=ReleaseDigest(row.digest),
        hardware_class=row.hardware_class,
        limits=CampaignLimits(row.per_rack, row.per_site, row.canaries),
        ready_within=timedelta(seconds=row.ready_within_seconds),
        who=row.who,
        started_at=row.started_at,
        members=members,
        state=CampaignState(row.state),
        why=row.why,
        ended_at=row.ended_at,
        revision=row.revision,
    )


def _member(row: AnyRow) -> Member:
    return Member(
        node=NodeName(row.node),
        rack=RackName(row.rack),
        state=MemberState(row.state),
        generation=row.generation,
        since=row.since,
        why=row.why,
    )
