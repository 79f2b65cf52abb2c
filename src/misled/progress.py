"""What has happened since a run began: counts by stage and by model, never a rate.

    Progress(units=12, asked=480, answered=470, stages={"solve": Stage(40, 40), ...})

Knows neither clock nor screen: `cli` shows it, budgets read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from misled.records import Answer, Failure, Request

__all__ = ["Progress", "Spent", "Stage"]


@dataclass
class Stage:
    """Requests of one kind: `wanted` so far (a walk asks for more as answers come), `answered`."""

    wanted: int = 0
    answered: int = 0


@dataclass
class Spent:
    """Tokens of one model, as its server counts them; `cached` are of the prompt's."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0


@dataclass
class Progress:
    """Counts of this process; what the store held before is in none of them but `reused`."""

    units: int = 0
    asked: int = 0
    answered: int = 0
    failed: int = 0
    reused: int = 0
    stopped: str | None = None
    failures: dict[str, int] = field(default_factory=dict)
    stages: dict[str, Stage] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens of all models."""
        return sum(spent.prompt + spent.completion for spent in self.spent.values())

    def want(self, request: Request) -> None:
        """Count a request that is now due."""
        self._stage(request).wanted += 1

    def count(self, request: Request, answer: Answer) -> None:
        """Count a committed answer."""
        self.answered += 1
        self._stage(request).answered += 1
        if isinstance(answer, Failure):
            self.failed += 1
            self.failures[answer.kind] = self.failures.get(answer.kind, 0) + 1
            return
        model = f"{request.provider}/{request.model}"
        spent = self.spent.get(model)
        if spent is None:
            spent = self.spent[model] = Spent()
        spent.prompt += answer.usage.prompt or 0
        spent.cached += answer.usage.cached or 0
        spent.completion += answer.usage.completion or 0

    def _stage(self, request: Request) -> Stage:
        stage = self.stages.get(request.stage)
        if stage is None:
            stage = self.stages[request.stage] = Stage()
        return stage
