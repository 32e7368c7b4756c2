"""
Orangebox, the flight recorder for AI agents: what an agent saw and did, written to a journal that survives the agent's death.

What is named here is the package's door; everything else may change.
"""

from .contract.error import OrangeboxError
from .logger import Logger
from .model_step import ModelStep
from .recorder import Recorder
from .run import Run
from .step import Handoff, Step
from .tool_step import ToolStep
from .version import VERSION as __version__

__all__ = [
    "Handoff",
    "Logger",
    "ModelStep",
    "OrangeboxError",
    "Recorder",
    "Run",
    "Step",
    "ToolStep",
    "__version__",
]
