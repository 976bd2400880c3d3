"""Which sites of an air-quality network are worth their running costs, when nobody knows how they co-vary?

Rounds of measurements come in. After each look the agent says what is certain: sites that belong to the best set, sites
that do not, and the bound on what could still be gained. Sites that are out are measured no more. In the end the map
shows where each site stands.

    python examples/monitoring.py [--rounds 20000] [--seed 0] [--epsilon 0.5] [--out out]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from proband import Records, plan
from proband.agents.entropy import Certificate, Certified
from proband.figures import draw_map, save_figure
from proband.instances import monitoring_network, site_positions
from proband.quantities import amount

MARKS = {"in": "●", "out": "·", "undecided": "○"}


def main() -> None:
    """Run the network until the certificate is reached, and draw the map."""
    options = read_options()
    network = monitoring_network()
    problem, rng = network.problem, np.random.default_rng(options.seed)
    agent = Certified(problem, delta=0.05, epsilon=options.epsilon)
    names = [test.name for test in problem.tests]
    spent, done = 0.0, 0
    print(f"{problem.name}: {problem.d} sites, a nat is worth {amount(problem.reward.scale, problem.unit)}")
    while not agent.finished and done < options.rounds:
        rounds = min(agent.commitment, options.rounds - done)
        measured = np.where(agent.flags(agent.tested), network.sample(rng, rounds), np.nan)
        spent += rounds * agent.costs.of(agent.tested)
        agent.learn(Records(measured))
        done += rounds
        certificate = agent.certificate()
        print(f"{done:>7,} rounds  {line(names, certificate)}  bound {amount(certificate.bound, problem.unit, 3)}")
    certificate = agent.certificate()
    whole, own = (amount(cost / done, problem.unit) for cost in (done * everything(problem), spent))
    print(f"\n{certificate}\nMeasuring everything would have cost {whole} a round, this {own}.")
    best = plan(problem, network.distribution)
    print(f"The best set, known to the simulation alone: {', '.join(names[i] for i in best.chosen)}.")
    for notice in agent.notices:
        print("Notice:", notice)
    options.out.mkdir(parents=True, exist_ok=True)
    title = f"{problem.name} after {done:,} rounds"
    costs = np.array([test.cost for test in problem.tests])
    figure = draw_map(site_positions(), names, standings(names, certificate), costs, title=title)
    save_figure(figure, options.out / "network.png")
    print(f"Map: {options.out / 'network.png'}")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=20_000, help="stop after so many rounds")
    parser.add_argument("--seed", type=int, default=0, help="seed of the measurements")
    parser.add_argument("--epsilon", type=float, default=0.5, help="be within this of the best set, a round")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the map")
    return parser.parse_args()


def standings(names: list[str], certificate: Certificate) -> list[str]:
    """Return "in", "out" or "undecided" for each site."""
    return ["in" if n in certificate.inside else "out" if n in certificate.outside else "undecided" for n in names]


def line(names: list[str], certificate: Certificate) -> str:
    """Return the network in one line."""
    return "".join(MARKS[standing] for standing in standings(names, certificate))


def everything(problem) -> float:
    """Return what measuring every site costs a round."""
    return float(problem.cost_of_the_rest(problem.state())[0])


if __name__ == "__main__":
    main()
