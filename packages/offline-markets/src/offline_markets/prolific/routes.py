"""All operations: Prolific's, by their operationId, and the emulator's own.

Addresses are those of Prolific's document; most end with a slash. A strict emulator
serves no other spelling.
"""

from offline_markets.prolific import (
    bonuses,
    books,
    filters,
    groups,
    messages,
    participants,
    studies,
    submissions,
    subscriptions,
    taking,
    testing,
    workspaces,
)
from offline_markets.prolific.beyond import routes as beyond
from offline_markets.prolific.operation import Operation

PREFIX = "/api/v1"

OPERATIONS = (
    Operation("get-user", "GET", "/users/me/", workspaces.me),
    Operation("get-workspaces", "GET", "/workspaces/", workspaces.list_workspaces),
    Operation(
        "create-test-participant-for-researcher",
        "POST",
        "/researchers/participants/",
        testing.create_participant,
        201,
    ),
    Operation("create-workspace", "POST", "/workspaces/", workspaces.create_workspace, 201),
    Operation(
        "update-workspace", "PATCH", "/workspaces/{workspace_id}/", workspaces.update_workspace
    ),
    Operation("create-invitation", "POST", "/invitations/", workspaces.invite, 201),
    Operation("update-project", "PATCH", "/projects/{project_id}/", workspaces.update_project),
    Operation("create-test-study", "POST", "/studies/{id}/test-study", testing.create_study),
    Operation("get-workspace", "GET", "/workspaces/{workspace_id}/", workspaces.get_workspace),
    Operation(
        "get-workspace-balance", "GET", "/workspaces/{workspace_id}/balance/", workspaces.balance
    ),
    Operation(
        "get-projects", "GET", "/workspaces/{workspace_id}/projects/", workspaces.list_projects
    ),
    Operation(
        "create-project",
        "POST",
        "/workspaces/{workspace_id}/projects/",
        workspaces.create_project,
        201,
    ),
    Operation("get-project", "GET", "/projects/{project_id}/", workspaces.get_project),
    Operation(
        "calculate-reward-recommendations",
        "GET",
        "/reward-recommendations/",
        workspaces.recommend_rewards,
        is_bare=True,
    ),
    Operation("get-studies", "GET", "/studies/", studies.list_all, is_bare=True),
    Operation("create-study", "POST", "/studies/", studies.create, 201, is_bare=True),
    Operation(
        "get-project-studies",
        "GET",
        "/projects/{project_id}/studies/",
        studies.list_of_project,
        is_bare=True,
    ),
    Operation(
        "delete-project-study",
        "DELETE",
        "/projects/{project_id}/studies/{study_id}/",
        studies.delete,
        204,
        is_bare=True,
    ),
    Operation(
        "post-study-predicted-recruitment-time",
        "POST",
        "/studies/predicted-recruitment-time/",
        taking.of_fields,
        is_bare=True,
    ),
    Operation(
        "get-study-predicted-recruitment-time",
        "GET",
        "/studies/{study_id}/predicted-recruitment-time/",
        taking.of_study,
        is_bare=True,
    ),
    Operation("get-study", "GET", "/studies/{id}/", studies.get),
    Operation("update-study", "PATCH", "/studies/{id}/", studies.update),
    Operation("delete-study", "DELETE", "/studies/{id}/", studies.delete),
    Operation("publish-study", "POST", "/studies/{id}/transition/", studies.transition),
    Operation("duplicate-study", "POST", "/studies/{id}/clone/", studies.clone),
    Operation("get-study-cost", "GET", "/studies/{id}/cost/", studies.cost, is_bare=True),
    Operation(
        "calculate-study-cost",
        "POST",
        "/study-cost-calculator/",
        studies.calculate_cost,
        is_bare=True,
    ),
    Operation(
        "get-study-submissions",
        "GET",
        "/studies/{id}/submissions/",
        submissions.list_of_study,
        is_bare=True,
    ),
    Operation(
        "count-study-submissions-by-status",
        "GET",
        "/studies/{id}/submissions/counts/",
        submissions.count,
        is_bare=True,
    ),
    Operation("get-submissions", "GET", "/submissions/", submissions.list_all, is_bare=True),
    Operation("get-submission", "GET", "/submissions/{id}/", submissions.get),
    Operation(
        "transition-submission", "POST", "/submissions/{id}/transition/", submissions.transition
    ),
    Operation(
        "request-submission-return",
        "POST",
        "/submissions/{id}/request-return/",
        submissions.request_return,
    ),
    Operation(
        "bulk-approve-submissions",
        "POST",
        "/submissions/bulk-approve/",
        submissions.bulk_approve,
        is_bare=True,
    ),
    Operation("create-bonus-payments", "POST", "/submissions/bonus-payments/", bonuses.create, 201),
    Operation("pay-bonus-payments", "POST", "/bulk-bonus-payments/{id}/pay/", bonuses.pay, 202),
    Operation("get-filters", "GET", "/filters/", filters.list_filters),
    Operation("get-eligible-count", "POST", "/eligibility-count/", filters.count_eligible),
    Operation("get-participant-groups", "GET", "/participant-groups/", groups.list_groups),
    Operation("create-participant-group", "POST", "/participant-groups/", groups.create, 201),
    Operation("get-participant-group", "GET", "/participant-groups/{id}/", groups.get),
    Operation("update-participant-group", "PATCH", "/participant-groups/{id}/", groups.update),
    Operation(
        "delete-participant-group", "DELETE", "/participant-groups/{id}/", groups.delete, 204
    ),
    Operation(
        "get-participant-group-participants",
        "GET",
        "/participant-groups/{id}/participants/",
        groups.list_members,
    ),
    Operation(
        "add-to-participant-group",
        "POST",
        "/participant-groups/{id}/participants/",
        groups.add_members,
    ),
    Operation(
        "remove-from-participant-group",
        "DELETE",
        "/participant-groups/{id}/participants/",
        groups.remove_members,
    ),
    Operation("get-messages", "GET", "/messages/", messages.list_messages, is_bare=True),
    Operation("send-message", "POST", "/messages/", messages.send_one, 204, is_bare=True),
    Operation(
        "bulk-message-participants",
        "POST",
        "/messages/bulk/",
        messages.send_bulk,
        204,
        is_bare=True,
    ),
    Operation(
        "send-message-to-participant-group",
        "POST",
        "/messages/participant-group/",
        messages.send_to_group,
        204,
        is_bare=True,
    ),
    Operation(
        "get-unread-messages", "GET", "/messages/unread/", messages.list_unread, is_bare=True
    ),
    Operation("get-event-types", "GET", "/hooks/event-types/", subscriptions.list_event_types),
    Operation("get-secrets", "GET", "/hooks/secrets/", subscriptions.list_secrets),
    Operation("create-secret", "POST", "/hooks/secrets/", subscriptions.create_secret, 201),
    Operation(
        "get-subscriptions", "GET", "/hooks/subscriptions/", subscriptions.list_subscriptions
    ),
    Operation("create-subscription", "POST", "/hooks/subscriptions/", subscriptions.create, 201),
    Operation(
        "get-subscription", "GET", "/hooks/subscriptions/{subscription_id}/", subscriptions.get
    ),
    Operation(
        "confirm-subscription",
        "POST",
        "/hooks/subscriptions/{subscription_id}/",
        subscriptions.confirm,
    ),
    Operation(
        "update-subscription",
        "PATCH",
        "/hooks/subscriptions/{subscription_id}/",
        subscriptions.update,
    ),
    Operation(
        "delete-subscription",
        "DELETE",
        "/hooks/subscriptions/{subscription_id}/",
        subscriptions.delete,
        204,
    ),
    Operation(
        "get-events",
        "GET",
        "/hooks/subscriptions/{subscription_id}/events/",
        subscriptions.list_events,
    ),
    *beyond.OPERATIONS,
)
"""Prolific's operations. Fixed words come before variable parts of the same length."""

NAMES = frozenset(operation.name for operation in OPERATIONS)

_PERSON = "/emulator/participants/{participant_id}"

PARTICIPANTS = (
    Operation("list", "GET", "/emulator/participants", participants.list_participants),
    Operation("create", "POST", "/emulator/participants", participants.create, 201),
    Operation("get", "GET", _PERSON, participants.get),
    Operation("studies", "GET", f"{_PERSON}/studies", taking.list_open),
    Operation("take", "POST", f"{_PERSON}/studies/{{study_id}}", taking.take, 201),
    Operation("mine", "GET", f"{_PERSON}/submissions", taking.list_mine),
    Operation(
        "complete", "POST", f"{_PERSON}/submissions/{{submission_id}}/complete", taking.complete
    ),
    Operation(
        "return", "POST", f"{_PERSON}/submissions/{{submission_id}}/return", taking.give_back
    ),
    Operation("messages", "GET", f"{_PERSON}/messages", participants.list_messages),
    Operation("write", "POST", f"{_PERSON}/messages", participants.write, 204),
    Operation("books", "GET", "/emulator/books", books.read),
    *beyond.PARTICIPANTS,
)
"""The emulator's own operations, which need no token and meet no faults."""
