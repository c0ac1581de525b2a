"""Entry of the archive: the agent, or, as `check <kind> <parameters>`, the child process that runs one check."""

import sys


def _main(arguments: list[str]) -> int:
    # Imported here, as a check needs neither HTTP nor the rest of the agent: 200 of them may start at once.
    if arguments[:1] == ["check"]:
        from images.agent.check_process import main as check

        return check(arguments[1:])
    from images.agent.main import main as agent

    return agent(arguments)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
