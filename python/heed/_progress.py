"""How a training goes, for people: lines for a terminal or a file, a bar for a notebook."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Dict, List, Optional, TextIO, Union

Event = Dict[str, Any]


def is_notebook() -> bool:
    """Whether this runs in Jupyter or one of its kin, which show HTML. Nothing is imported for it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


def progress_of(progress: Union[bool, TextIO]) -> Optional["Progress"]:
    """What shows the events: `progress` is that of heed.train."""
    if progress is True:
        return NotebookProgress() if is_notebook() else LineProgress(sys.stderr)
    return LineProgress(progress) if progress else None


class Progress:
    """What shows events."""

    def __init__(self) -> None:
        self.prediction = "token"

    def tell(self, event: Event) -> None:
        """Shows an event."""
        kind = event["event"]
        if kind == "started":
            self.prediction = event["prediction"]
        if kind == "step":
            self.step(event)
        elif line := self._line(event):
            self.say(line)

    def _line(self, event: Event) -> str:
        kind = event["event"]
        if kind == "seen":
            return str(event["text"])
        if kind == "chosen":
            return "chosen to fit the data: " + ", ".join(f"{k} = {v}" for k, v in event["settings"].items())
        if kind == "started":
            return (
                f"{event['examples']:,} {event['example']}s to learn from, {event['valid_examples']:,} to validate on; "
                f"{event['model']} with {event['parameters']:,} parameters"
            )
        if kind == "warning":
            return "warning: " + str(event["text"]).rstrip()
        if kind == "skipped":
            return f"update {event['step']} was skipped: {event['why']}"
        if kind == "validated":
            right = f"  right {100 * event['exact']:.2f} %" if "exact" in event else ""
            best = "  best so far" if event["best"] else ""
            return f"update {event['step']:,}  loss {event['nll']:.4f}{right}{best}"
        if kind == "finished":
            return f"finished after {event['step']:,} updates and {_duration(event['seconds'])}"
        return ""

    def state_of(self, event: Event) -> str:
        """Of a step: what is left, the loss, the speed."""
        left = f"  {_duration(event['seconds_left'])} left" if event["seconds_left"] >= 0 else ""
        worth = f"  reward {event['reward']:.3f}" if "reward" in event else ""
        speed = f"{event['tokens_per_second']:,.0f} {self.prediction}s/s"
        return f"{100 * event['share']:3.0f} %{left}  loss {event['nll']:.3f}{worth}  {speed}"

    def step(self, event: Event) -> None:
        """An update."""

    def say(self, line: str) -> None:
        """A line that stays."""

    def end(self) -> None:
        """No more events come."""


class LineProgress(Progress):
    """Lines, and on a terminal one that moves."""

    def __init__(self, file: TextIO) -> None:
        super().__init__()
        self._file = file
        self._moves = file.isatty()
        self._bar = False

    def step(self, event: Event) -> None:
        """An update."""
        if self._moves:
            self._file.write(f"\r{self.state_of(event)}\033[K")
            self._file.flush()
            self._bar = True

    def say(self, line: str) -> None:
        """A line that stays."""
        self.end()
        print(line, file=self._file, flush=True)

    def end(self) -> None:
        """No more events come."""
        if self._bar:
            self._file.write("\r\033[K")
            self._file.flush()
            self._bar = False


class NotebookProgress(Progress):
    """A bar with its lines below, in one output cell that is updated: plain HTML, without widgets."""

    _PAUSE = 0.25  # seconds between updates: more often nobody can read them
    _LINES = 12  # shown; the first and the last

    def __init__(self) -> None:
        super().__init__()
        self._lines: List[str] = []
        self._state = ""
        self._share = 0.0
        self._handle: Any = None
        self._last = 0.0

    def step(self, event: Event) -> None:
        """An update."""
        self._share, self._state = float(event["share"]), self.state_of(event)
        if time.monotonic() - self._last > self._PAUSE:
            self._show()

    def say(self, line: str) -> None:
        """A line that stays."""
        self._lines.append(line)
        self._show()

    def end(self) -> None:
        """No more events come: the bar goes, the lines stay."""
        self._state = ""
        if self._handle is not None:
            self._show()

    def html(self) -> str:
        """The bar and the lines."""
        lines = self._lines
        if len(lines) > self._LINES:
            lines = lines[:3] + [f"... {len(lines) - self._LINES + 1} lines ..."] + lines[4 - self._LINES :]
        bar = ""
        if self._state:
            bar = (
                f'<div><progress max="1" value="{self._share:.4f}" style="width:20em" aria-label="training"></progress> '
                f"<code>{html.escape(self._state)}</code></div>"
            )
        rows = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
        return f'<div style="font-size:90%">{bar}{rows}</div>'

    def _show(self) -> None:
        from IPython.display import HTML, display  # pylint: disable=import-outside-toplevel

        self._last = time.monotonic()
        if self._handle is None:
            self._handle = display(HTML(self.html()), display_id=True)
        else:
            self._handle.update(HTML(self.html()))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
