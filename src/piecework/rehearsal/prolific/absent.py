"""Prolific's operations that the emulator knows and does not perform.

They answer 501 with a sentence, so that the author of a program sees that the address
is right and the emulator lacks the operation.
"""

ABSENT = (
    ("GET", "/data-collection/batches", "get-task-builder-batches"),
    ("POST", "/data-collection/batches", "create-task-builder-batch"),
    ("GET", "/data-collection/batches/{batch_id}", "get-task-builder-batch"),
    ("PATCH", "/data-collection/batches/{batch_id}", "update-task-builder-batch"),
    ("POST", "/data-collection/batches/{batch_id}/sync", "sync-task-builder-batch"),
    (
        "GET",
        "/data-collection/batches/{batch_id}/syncs/{sync_id}",
        "get-batch-sync-status",
    ),
    (
        "GET",
        "/data-collection/batches/{batch_id}/status",
        "get-task-builder-batch-status",
    ),
    ("POST", "/data-collection/batches/{batch_id}/setup", "setup-task-builder-batch"),
    (
        "GET",
        "/data-collection/batches/{batch_id}/responses",
        "get-task-builder-batch-task-responses",
    ),
    (
        "GET",
        "/data-collection/batches/{batch_id}/report/",
        "get-task-builder-batch-report",
    ),
    (
        "POST",
        "/data-collection/batches/{batch_id}/duplicate",
        "duplicate-task-builder-batch",
    ),
    ("POST", "/data-collection/batches/{batch_id}/export", "request-batch-export"),
    (
        "GET",
        "/data-collection/batches/{batch_id}/export/{export_id}",
        "get-batch-export-status",
    ),
    ("POST", "/data-collection/datasets", "create-task-builder-dataset"),
    ("GET", "/data-collection/datasets/{dataset_id}", "get-task-builder-dataset"),
    ("PATCH", "/data-collection/datasets/{dataset_id}", "update-task-builder-dataset"),
    (
        "GET",
        "/data-collection/datasets/{dataset_id}/upload-url/{filename}",
        "get-dataset-upload-url",
    ),
    (
        "GET",
        "/data-collection/datasets/{dataset_id}/imports/{import_id}",
        "get-dataset-import-status",
    ),
    (
        "POST",
        "/data-collection/datasets/{dataset_id}/datapoints",
        "append-dataset-datapoints",
    ),
    (
        "GET",
        "/data-collection/datasets/{dataset_id}/schema-migrations/{job_id}",
        "get-schema-migration-status",
    ),
    (
        "GET",
        "/data-collection/datasets/{dataset_id}/status",
        "get-task-builder-dataset-status",
    ),
    (
        "GET",
        "/data-collection/batches/{batch_id}/instructions",
        "get-task-builder-instructions",
    ),
    (
        "POST",
        "/data-collection/batches/{batch_id}/instructions",
        "create-task-builder-instructions",
    ),
    (
        "PUT",
        "/data-collection/batches/{batch_id}/instructions",
        "update-task-builder-instructions",
    ),
    ("GET", "/filters/{id}/distribution/", "get-filter-distribution"),
)
"""Method, address after the prefix, and operationId in Prolific's OpenAPI document."""


def absent_sentence(name: str) -> str:
    """Return what an operation that is not performed answers."""
    return (
        f"Prolific has the operation {name}, but this emulator does not perform it; "
        "its how-to guide lists those that it performs."
    )
