"""`grader doctor`: `learn doctor`, under the instructor's command."""

from __future__ import annotations

import copy

from grader.cli.doctor.doctor import command as learn_doctor

command = copy.copy(learn_doctor)
command.help = (learn_doctor.help or "").replace("learn doctor", "grader doctor")
