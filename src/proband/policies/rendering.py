"""Trees for people and for other programs: text, Mermaid, Graphviz DOT."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proband.policies.tree import Node, Tree


def text(tree: Tree) -> str:
    """Return the tree as indented lines; outcomes that cannot occur under the plan's law are marked."""
    return "\n".join(_text_lines(tree, tree.root, "", ""))


def mermaid(tree: Tree) -> str:
    """Return the tree as a Mermaid flowchart."""
    lines = ["flowchart LR"]
    for number, node, parent, outcome in _walk(tree):
        label = _quote(_label(tree, node))
        lines.append(f"    n{number}[{label}]" if node.children else f"    n{number}([{label}])")
        if parent is not None:
            lines.append(f"    n{parent} -->|{_quote(_edge(node, outcome))}| n{number}")
    return "\n".join(lines)


def dot(tree: Tree) -> str:
    """Return the tree in Graphviz' language."""
    lines = ["digraph policy {", "    rankdir=LR;", '    node [shape=box, fontname="sans-serif"];']
    for number, node, parent, outcome in _walk(tree):
        shape = "" if node.children else ", style=rounded"
        lines.append(f"    n{number} [label={_escape(_label(tree, node))}{shape}];")
        if parent is not None:
            lines.append(f"    n{parent} -> n{number} [label={_escape(_edge(node, outcome))}];")
    return "\n".join([*lines, "}"])


FORMATS: dict[str, Callable[[Tree], str]] = {"text": text, "mermaid": mermaid, "dot": dot}


def _walk(tree: Tree) -> Iterator[tuple[int, Node, int | None, str]]:
    """Yield number, node, number of the parent and outcome that leads here, parents first."""
    stack: list[tuple[Node, int | None, str]] = [(tree.root, None, "")]
    number = 0
    while stack:
        node, parent, outcome = stack.pop()
        yield number, node, parent, outcome
        if node.children:
            names = tree.problem.tests[node.action].outcomes
            stack.extend(
                (child, number, name) for name, child in reversed(list(zip(names, node.children, strict=True)))
            )
        number += 1


def _text_lines(tree: Tree, node: Node, lead: str, below: str) -> Iterator[str]:
    yield lead + _label(tree, node)
    if not node.children:
        return
    outcomes = tree.problem.tests[node.action].outcomes
    for b, (outcome, child) in enumerate(zip(outcomes, node.children, strict=True)):
        last = b == len(outcomes) - 1
        stem, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
        yield from _text_lines(tree, child, f"{below}{stem}{_edge(child, outcome)}: ", below + rest)


def _label(tree: Tree, node: Node) -> str:
    name = tree.problem.action_name(node.action)
    if node.children:
        test = tree.problem.tests[node.action]
        name += " (on arrival)" if test.on_arrival else f" ({test.cost:g}{_unit(tree)})"
    return f"{name}  value {node.value:.4g}"


def _unit(tree: Tree) -> str:
    return f" {tree.problem.unit}" if tree.problem.unit else ""


def _edge(node: Node, outcome: str) -> str:
    return f"{outcome} · {100 * node.probability:.3g} %" if node.probability > 0 else f"{outcome} · never seen"


def _quote(label: str) -> str:
    return '"' + label.replace('"', "#quot;") + '"'


def _escape(label: str) -> str:
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
