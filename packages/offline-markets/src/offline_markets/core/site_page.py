"""The frame of a page that a person sees."""


def page(title: str, body: str) -> str:
    """Return a page with a title and a body of HTML."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width'>"
        f"<title>{title}</title><main><h1>{title}</h1>{body}</main></html>"
    )
