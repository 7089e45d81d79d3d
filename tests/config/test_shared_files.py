"""Files of their own that campaigns share: a test, what workers earn, columns of files."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.provenance import inputs_of
from piecework.config.campaign_file import parse
from piecework.config.changed_keys import changes
from piecework.domain.errors import ConfigError
from piecework.domain.inputs import CAMPAIGN_FILE
from tests.small_campaign import CAMPAIGN, write_campaign

TEST = """
task = "caption"
items = "questions.csv"
correct_at_least = { spelling = 2 }
"""
EARNED = """
name = "good"
kind = "captions"
"""


def write(folder: Path, line: str, name: str = "shared/file.toml", text: str = TEST) -> Path:
    """A campaign with this line, and a file beside it."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return write_campaign(folder, line + CAMPAIGN)


def test_a_shared_file_is_a_table_and_names_what_is_beside_it(tmp_path: Path) -> None:
    """The test's items, and the records of what is earned."""
    path = write(tmp_path, 'qualification = "shared/file.toml"\nearned = ["shared/e.toml"]')
    (tmp_path / "shared/e.toml").write_text(EARNED)
    tables = parse(path).tables
    assert tables.qualification is not None
    assert tables.qualification.items == "shared/questions.csv"
    assert tables.qualification.correct_at_least == {"spelling": 2}
    assert [(each.name, each.records) for each in tables.earned] == [("good", "shared/earned.db")]


def test_a_change_of_a_shared_file_is_a_change_of_the_campaign(tmp_path: Path) -> None:
    """The campaign file itself is the same."""
    path = write(tmp_path, 'qualification = "shared/file.toml"')
    before = inputs_of(parse(path))
    (tmp_path / "shared/file.toml").write_text(TEST.replace("spelling = 2", "spelling = 3"))
    now = inputs_of(parse(path))
    assert changes(before, now) == ("qualification.file: shared/file.toml",)
    assert before.digests[CAMPAIGN_FILE] == now.digests[CAMPAIGN_FILE]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('qualification = "none.toml"', "crash.toml:1: qualification: no such file: none.toml"),
        ('qualification = "../out.toml"', "is not in the campaign file's folder; copy it there"),
        ('qualification = "link.toml"', "is not in the campaign file's folder; copy it there"),
        ('qualification = "items.csv"', 'qualification: names a file, such as "english.toml"'),
        ("qualification = { task = 'caption' }", 'names a file, such as "english.toml"'),
        ("qualification = 7", 'names a file, such as "english.toml"'),
        ('earned = "shared/file.toml"', "file.toml:2: task: no such key"),
        ('earned = ["none.toml"]', "crash.toml:1: earned: no such file: none.toml"),
        ("earned = [{ name = 'n', kind = 'k' }]", 'earned: names a file, such as "english.toml"'),
        ('qualification = "shared/bad.toml"', "shared/bad.toml: not valid TOML"),
        ('qualification = "shared/more.toml"', "shared/more.toml: file: no such key"),
        ('qualification = "shared/wrong.toml"', "wrong.toml:5: retry: no such key"),
    ],
)
def test_what_a_shared_file_cannot_be_is_refused(tmp_path: Path, line: str, words: str) -> None:
    """With the line of the campaign file, or of the shared file."""
    folder = tmp_path / "campaigns"
    folder.mkdir()
    (tmp_path / "out.toml").write_text(TEST)
    (folder / "link.toml").symlink_to(tmp_path / "out.toml")
    path = write(folder, line)
    (folder / "shared/bad.toml").write_text("=")
    (folder / "shared/more.toml").write_text(f'{TEST}file = "x"\n')
    (folder / "shared/wrong.toml").write_text(f"{TEST}retry = 1\n")
    with pytest.raises(ConfigError) as refused:
        parse(path)
    assert words in "\n".join(refused.value.faults)


IMPORTED = """
budget = "1.00"
[imported]
columns = "shared/columns.toml"
"""
COLUMNS = """
item = "text"
answers = { mood = "said" }
[columns]
worker = "who"
[fields.mood]
kind = "text"
"""


def _imported(folder: Path, campaign: str = IMPORTED, columns: str = COLUMNS) -> Path:
    (folder / "shared").mkdir(exist_ok=True)
    (folder / "shared/columns.toml").write_text(columns)
    path = folder / "moods.toml"
    path.write_text(campaign)
    return path


def test_campaigns_share_what_a_file_says_about_columns(tmp_path: Path) -> None:
    """Its fields are the campaign's, unless the campaign states them; a change counts."""
    path = _imported(tmp_path)
    campaign = load_campaign(path)
    assert campaign.imported is not None
    assert (campaign.imported.item, campaign.imported.columns.worker) == (("text",), "who")
    assert [(field.name, field.kind) for field in campaign.task.fields] == [("mood", "text")]
    before = campaign.inputs
    path = _imported(tmp_path, columns=COLUMNS.replace('"who"', '"worker"'))
    assert changes(before, inputs_of(parse(path))) == ("imported.file: shared/columns.toml",)
    (tmp_path / "own.toml").write_text(
        '[fields.mood]\nkind = "choice"\noptions = ["good", "bad"]\n'
    )
    own = f'fields = "own.toml"\n{IMPORTED}'
    [mood] = load_campaign(_imported(tmp_path, own)).task.fields
    assert mood.kind == "choice"


@pytest.mark.parametrize(
    ("campaign", "columns", "words"),
    [
        (f'{IMPORTED}header = ["a"]', COLUMNS, "moods.toml:5: imported.header: goes into a file"),
        (IMPORTED, f'file = "x"{COLUMNS}', "columns.toml: file: no such key"),
        (IMPORTED, COLUMNS.replace("worker", "wrker"), "columns.toml:5: columns.wrker: no such"),
        (IMPORTED.replace("shared/", ""), COLUMNS, "imported.columns: no such file: columns.toml"),
        (
            IMPORTED.replace('columns = "shared/columns.toml"', '[imported.columns]\nworker = "w"'),
            COLUMNS,
            "moods.toml:4: imported.columns: names a file",
        ),
    ],
)
def test_a_key_of_another_tool_s_columns_is_in_the_file_of_columns(
    tmp_path: Path, campaign: str, columns: str, words: str
) -> None:
    """And nowhere else; the sentence says how the campaign names it."""
    with pytest.raises(ConfigError) as refused:
        parse(_imported(tmp_path, campaign, columns))
    assert any(words in fault for fault in refused.value.faults), refused.value.faults
