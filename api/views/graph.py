"""The graph of a pool's releases as the API shows it."""

from typing import Self

from pydantic import BaseModel, Field

from provisioner.services.graph import Graph


class VertexView(BaseModel):
    """One release."""

    release: str
    name: str
    nodes: int = Field(description="of the pool that should run it")
    channels: list[str]
    rejected: str = Field(description="why it came back from this hardware class; empty: it did not")


class WayView(BaseModel):
    """From a release that runs to another one. Neither refusals nor one_way: there and back."""

    before: str
    after: str
    refusals: list[str]
    one_way: list[str] = Field(description="components whose devices refuse the old version afterwards")


class GraphView(BaseModel):
    """Releases of one pool, and every way from those that run."""

    pool: str
    releases: list[VertexView]
    ways: list[WayView]

    @classmethod
    def of(cls, one: Graph) -> Self:
        """The view."""
        return cls(
            pool=one.pool,
            releases=[
                VertexView(
                    release=vertex.release.digest,
                    name=vertex.release.name,
                    nodes=vertex.nodes,
                    channels=list(vertex.channels),
                    rejected=vertex.rejected,
                )
                for vertex in one.vertices
            ],
            ways=[
                WayView(
                    before=way.before,
                    after=way.after,
                    refusals=list(way.edge.refusals),
                    one_way=list(way.edge.one_way),
                )
                for way in one.ways
            ],
        )
