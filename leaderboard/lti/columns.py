"""The column of a platform's gradebook that an activity's marks go to."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import quote, urlencode

from .addresses import is_usable_address, object_of
from .models import LtiLink
from .platform_services import LINEITEM_TYPE, LINEITEMS_TYPE, PlatformClient, PlatformProblem, json_of


def whole_maximum(out_of: float) -> float:
    """The maximum that is sent: the points themselves if they are whole, else 100, because Open edX takes whole ones
    only."""
    return out_of if math.isfinite(out_of) and out_of == int(out_of) and out_of >= 1 else 100.0


def column_of(link: LtiLink, client: PlatformClient, out_of: float) -> str:
    """The address of the activity's column: known, claimed by the launch, found by our name, or made.

    The maximum of one that this site made follows `out_of`. Raises `PlatformProblem`, with the code "column" if the
    platform lets us have none.
    """
    maximum = whole_maximum(out_of)
    facts = {**_name_of(link), "label": str(link.competition), "scoreMaximum": maximum}
    if not link.lineitem:
        found = _claimed_column(link, client) or _named_column(link, client)
        column = found or _make_column(link, client, facts)
        _store(link, lineitem=column, is_own_column=not found, out_of=None if found else maximum)
    elif link.is_own_column and link.out_of != maximum:
        client.ask("PUT", link.lineitem, kind=LINEITEM_TYPE, body={**facts, "id": link.lineitem})
        _store(link, out_of=maximum)
    return link.lineitem


def _store(link: LtiLink, **facts: Any) -> None:
    LtiLink.objects.filter(pk=link.pk).update(**facts)
    for name, value in facts.items():
        setattr(link, name, value)


def _name_of(link: LtiLink) -> dict[str, str]:
    """Our name of the column and the platform's name of the activity."""
    return {"resourceId": f"competition-{link.competition_id}", "resourceLinkId": link.resource}


def _claimed_column(link: LtiLink, client: PlatformClient) -> str:
    """The column that the launch named, if it belongs to this activity: Open edX names the first one of a block,
    whatever was launched (openedx/xblock-lti-consumer#707)."""
    if not link.claimed_lineitem:
        return ""
    try:
        found = object_of(json_of(client.ask("GET", link.claimed_lineitem, kind=LINEITEM_TYPE)))
    except PlatformProblem as problem:
        if problem.status in (401, 403, 404, 405):
            return ""
        raise
    return link.claimed_lineitem if found.get("resourceLinkId") in (link.resource, None, "") else ""


def _named_column(link: LtiLink, client: PlatformClient) -> str:
    if not link.lineitems_url:
        return ""
    name, between = _name_of(link)["resourceId"], "&" if "?" in link.lineitems_url else "?"
    address = f"{link.lineitems_url}{between}{urlencode({'resource_id': name}, quote_via=quote)}"
    for page in client.pages(address, LINEITEMS_TYPE):
        for one in map(object_of, page if isinstance(page, list) else []):
            is_ours = one.get("resourceId") == name
            if is_ours and one.get("resourceLinkId") in (None, "", link.resource) and is_usable_address(one.get("id")):
                return str(one["id"])
    return ""


def _make_column(link: LtiLink, client: PlatformClient, facts: dict[str, Any]) -> str:
    try:
        made = client.ask("POST", link.lineitems_url, kind=LINEITEM_TYPE, body=facts) if link.lineitems_url else None
    except PlatformProblem as problem:
        raise PlatformProblem("column") if problem.is_final else problem from None
    address = object_of(json_of(made)).get("id") if made is not None else None
    if not is_usable_address(address):
        raise PlatformProblem("column")
    return str(address)
