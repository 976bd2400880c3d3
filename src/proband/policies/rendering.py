"""Trees for people and for other programs: text, Mermaid, Graphviz DOT."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proband import quantities
from proband.policies.nodes import Evidence, Node
from proband.policies.tree import Tree
from proband.vocabulary import FloatArray


def text(tree: Tree) -> str:
    """Return the tree as indented lines; outcomes that cannot occur under the plan's law are marked."""
    return "\n".join(_text_lines(tree, _Branch(tree.root, tree.problem.state(), None, ""), "", ""))


def mermaid(tree: Tree) -> str:
    """Return the tree as a Mermaid flowchart."""
    lines = ["flowchart LR"]
    for number, branch in _walk(tree):
        label = _quote(_label(tree, branch))
        lines.append(f"    n{number}[{label}]" if branch.node.children else f"    n{number}([{label}])")
        if branch.parent is not None:
            lines.append(f"    n{branch.parent} -->|{_quote(_edge(branch))}| n{number}")
    return "\n".join(lines)


def dot(tree: Tree) -> str:
    """Return the tree in Graphviz' language."""
    lines = ["digraph policy {", "    rankdir=LR;", '    node [shape=box, fontname="sans-serif"];']
    for number, branch in _walk(tree):
        shape = "" if branch.node.children else ", style=rounded"
        lines.append(f"    n{number} [label={_escape(_label(tree, branch))}{shape}];")
        if branch.parent is not None:
            lines.append(f"    n{branch.parent} -> n{number} [label={_escape(_edge(branch))}];")
    return "\n".join([*lines, "}"])


FORMATS: dict[str, Callable[[Tree], str]] = {"text": text, "mermaid": mermaid, "dot": dot}


@dataclass(frozen=True)
class _Branch:
    """A node, what is known there, and how it is reached: the parent's number and the outcome."""

    node: Node
    state: FloatArray
    parent: int | None
    outcome: str

    def below(self, tree: Tree, number: int | None) -> list[_Branch]:
        if not self.node.children:
            return []
        names = tree.problem.tests[self.node.action].names
        below = zip(self.node.children, tree.problem.after(self.state, self.node.action), names, strict=True)
        return [_Branch(child, state, number, outcome) for child, state, outcome in below]


def _walk(tree: Tree) -> Iterator[tuple[int, _Branch]]:
    """Yield numbered branches, parents first."""
    stack = [_Branch(tree.root, tree.problem.state(), None, "")]
    number = 0
    while stack:
        branch = stack.pop()
        yield number, branch
        stack.extend(reversed(branch.below(tree, number)))
        number += 1


def _text_lines(tree: Tree, branch: _Branch, lead: str, below: str) -> Iterator[str]:
    yield lead + _label(tree, branch)
    children = branch.below(tree, None)
    for child in children:
        stem, rest = ("└─ ", "   ") if child is children[-1] else ("├─ ", "│  ")
        yield from _text_lines(tree, child, f"{below}{stem}{_edge(child)}: ", below + rest)


def _label(tree: Tree, branch: _Branch) -> str:
    problem, node = tree.problem, branch.node
    name = problem.action_name(node.action)
    if node.children:
        price = quantities.amount(problem.costs(branch.state)[0, node.action], problem.unit, 6)
        name += " (on arrival)" if problem.tests[node.action].on_arrival else f" ({price})"
    rests = "" if node.evidence is None else f" · {_rests_on(node.evidence)}"
    return f"{name}  value {quantities.plain(node.value, problem.unit)}{rests}"


def _rests_on(evidence: Evidence) -> str:
    """Return on how many subjects a leaf rests, and what is likely of them."""
    chance = evidence.outcomes[evidence.matters]
    between = quantities.percents(chance.low, chance.high)
    count = quantities.number(evidence.count)
    return f"{count} seen, {evidence.matters} {quantities.percent(chance.probability)} ({between})"


def _edge(branch: _Branch) -> str:
    probability = branch.node.probability
    return f"{branch.outcome} · " + (quantities.percent(probability) if probability > 0 else "never seen")


def _quote(label: str) -> str:
    """Return a label for Mermaid, which obeys HTML, Markdown, TeX and escapes within labels."""
    return f'"{label.translate(_ENTITIES)}"'


def _escape(label: str) -> str:
    """Return a label for Graphviz, which obeys backslashes and entities of HTML."""
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") + '"'


_ENTITIES = str.maketrans({mark: f"#{ord(mark)};" for mark in '#"&<>`$\\'})
