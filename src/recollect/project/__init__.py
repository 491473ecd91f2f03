"""Which project a folder belongs to, read from git's own files, without git: a hook asks at every prompt."""

from recollect.project.identify import find_root, identify_project, keep_name, project_of
from recollect.project.remote import normalise_remote

__all__ = ["find_root", "identify_project", "keep_name", "normalise_remote", "project_of"]
