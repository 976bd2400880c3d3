"""Tokens of the service: who may come in, and do what."""

from proband.cli.groups import group

token_app = group(__name__, ("tokens", "create list revoke"), about=__doc__)
