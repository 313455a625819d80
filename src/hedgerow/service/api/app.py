"""The application of one party."""

from fastapi import FastAPI

from ... import __version__
from .errors import add_errors
from .limits import Limits
from .metrics import Metrics
from .parts import Parts
from .routes.datasets import add_datasets
from .routes.jobs import add_jobs
from .routes.models import add_models
from .routes.peers import add_peers
from .routes.public import add_public


def make_app(parts: Parts) -> FastAPI:
    """The application, with everything it serves."""
    settings, desk = parts.settings, parts.jobs.desk
    app = FastAPI(title=f"Hedgerow party {settings.number}", version=__version__, docs_url=None, redoc_url=None)
    app.state.settings = settings
    metrics = Metrics(settings, parts.jobs)
    app.add_middleware(Limits, settings=settings, metrics=lambda: metrics)
    add_errors(app, parts.audit)
    add_public(app, parts, metrics)
    add_datasets(app, parts.datasets)
    add_jobs(app, desk)
    add_models(app, desk, parts.vault)
    add_peers(app, parts)
    return app
