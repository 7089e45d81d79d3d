"""Errors in a campaign file that only show together with its task and items."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from piecework.config import campaign_file as values
from piecework.config.campaign_file import CampaignFile
from piecework.config.named import Names, texts_of
from piecework.config.schema import CampaignTables
from piecework.domain.campaign import formats_of
from piecework.domain.hit import Item
from piecework.domain.received_files import about_link, outward_link
from piecework.domain.task import PRACTICE, Task
from piecework.domain.text import did_you_mean, plural
from piecework.hit_templates.answers import text_fields
from piecework.hit_templates.item_faults import faults_of_items
from piecework.hit_templates.own_html.controls import controls_of
from piecework.hit_templates.own_html.fields_of_controls import REST
from piecework.hit_templates.own_html.markup import is_markup
from piecework.hit_templates.own_html.page import controls_in
from piecework.hit_templates.own_html.placeholders import template_of, value_of
from piecework.hit_templates.tasks import is_own
from piecework.postprocess.splits import faults_of_splits
from piecework.qc.heuristics import text_disagreement
from piecework.qc.heuristics.canary import planted_word
from piecework.qc.registry import is_on, params_of

_FILES = {Names.DEFINITION, Names.INPUT, Names.OUTPUT}

_MOST_FAULTS = 20


def faults_with_items(file: CampaignFile, task: Task, items: Sequence[Item]) -> list[str]:
    """Return errors that only show with the task and its items, with lines if known."""
    if file.tables.imported is not None:
        # They were shown elsewhere, so piecework does not check their text.
        return [*_faults_of_formats(file, task), *_faults_of_compared_field(file, task)]
    tables, out = file.tables, file.out
    count = sum(not item.columns.get(PRACTICE) for item in items)
    faults = _faults_of_formats(file, task)
    faults += _faults_of_hit_size(file, task)
    if count and tables.batches and tables.batches > count:
        faults.append(
            f"{file.at('batches')}: is {tables.batches}, but there are only {plural(count, 'item')}"
        )
    faults += _faults_of_dataset(file, items)
    faults += _faults_of_as_needed(file, task)
    faults += _faults_of_people(file, task)
    above = next(folder for folder in (out, *out.parents) if folder.exists())
    if not above.is_dir():
        faults.append(f"{file.at('output', 'folder')}: {above} is not a folder")
    # Rows of a source that grows are checked, and set aside, one by one.
    if not file.tables.grows:
        faults += [f"{file.path}: {fault}" for fault in faults_of_items(task, items)]
    faults += _faults_of_silent_rules(file, task)
    faults += _faults_of_experiment(file, task)
    faults += _faults_of_practice(file, task, items)
    if not file.tables.grows and not file.tables.fields.fields:
        faults += _faults_of_inputs(task, items)
    faults += _faults_of_compared_field(file, task)
    faults += _faults_of_canary(file, task, () if file.tables.grows else items)
    if items and not count:
        faults.append(f"{file.path}: all items are practice; at least one has to be answered")
    return faults


def _faults_of_people(file: CampaignFile, task: Task) -> list[str]:
    """Return answers of simulated people that the task does not ask for."""
    asked = {
        field.name: [option.value for option in field.options]
        for field in task.hit_fields
        if field.kind == "choice"
    }
    faults = []
    for name, weights in file.tables.rehearsal.people.items():
        at = file.at("rehearsal", "people", name)
        unknown = [option for option in weights if option not in asked.get(name, ())]
        if name not in asked:
            known = "its choices are: " + ", ".join(asked) if asked else "it asks none"
            faults.append(
                f"{at}: {task.name} asks no such choice once per HIT"
                f"{did_you_mean(name, asked, then=known)}"
            )
        elif unknown:
            listed = f"the options are {', '.join(asked[name])}"
            meant = did_you_mean(unknown[0], asked[name], then=listed)
            faults.append(f"{at}: no option {unknown[0]!r}{meant}")
        elif not sum(weights.values()):
            faults.append(f"{at}: at least one number must be above 0")
    return faults


_FORMATS_FOR = {
    "vizwiz_json": "captions",
    **dict.fromkeys(("coco_json", "imagefolder"), "fields of boxes"),
    **dict.fromkeys(("conll", "brat"), "fields of spans"),
}


def _faults_of_formats(file: CampaignFile, task: Task) -> list[str]:
    allowed = formats_of(task)
    tables = file.tables
    faults = [
        f"{file.at('formats')}: {name} is for {_FORMATS_FOR[name]}; a dataset of "
        f"{task.name} is written as {' or '.join(allowed)}"
        for name in tables.formats or ()
        if name not in allowed
    ]
    if values.has_releases(tables) and "parquet" not in (tables.formats or allowed):
        faults.append(
            f"{file.at('formats')}: releases are made of Parquet files; add "
            '"parquet", or leave out the sinks'
        )
    has_manifest = any(sink.is_manifest for sink in values.sinks(tables))
    if has_manifest and not task.label_fields and "coco_json" not in allowed:
        faults.append(
            f"{file.at('sink')}: a manifest has labels or boxes of items, and "
            f"{task.name} asks for none; leave out the word manifest"
        )
    return faults


def faults_of_names(file: CampaignFile) -> list[str]:
    """Return why files named by the campaign cannot be read, each with file and line.

    Links out of the folder are refused: the content of a file that the person who
    starts the campaign cannot see there would be posted or served.
    """
    faults = [
        f"{file.at(*key)}: {fault}"
        for key, named in _named_files(file.tables)
        if (fault := _fault_of_name(file, named))
    ]
    return faults or _faults_of_served_store(file)


def _faults_of_served_store(file: CampaignFile) -> list[str]:
    """Return an error if the campaign's output would be in the served folder."""
    served = file.pictures if file.tables.pictures else None
    pictures = None if served is None else served.folder
    if pictures is None or not file.out.is_relative_to(pictures):
        return []
    where = file.at("pictures")
    fault = (
        f"{where}: the marketplace serves all of {pictures}, and the campaign's store "
        f"would be in it ({file.out}); move the pictures to a separate folder, or name "
        "another [output] folder in the machine's file"
    )
    return [fault]


def _fault_of_name(file: CampaignFile, named: str) -> str:
    beside = file.path.parent
    link = outward_link(named, beside=beside)
    if link is None:
        return ""
    return f"{about_link(link, beside=beside)}; name that path here, or copy the file"


def _named_files(tables: CampaignTables) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys of all named files and folders, each with its path."""
    for key, path, names in texts_of(tables):
        is_gallery = key[-1] == "task" and not is_own(path)
        if names in _FILES and "://" not in path and not is_gallery:
            yield key, path


def _faults_of_hit_size(file: CampaignFile, task: Task) -> Iterator[str]:
    """Yield why a HIT cannot show as many items as stated."""
    in_hit = file.tables.posting.items_per_hit
    if not in_hit or in_hit <= task.items_per_hit:
        return
    where = f"{file.at('posting', 'items_per_hit')}: is {in_hit}, but"
    if task.html_page is None:
        yield f"{where} a HIT of {task.name} shows 1 to {task.items_per_hit} items"
    elif task.items_per_hit > 1:
        yield (
            f"{where} {file.tables.task} shows {task.items_per_hit} items; write "
            f"items_per_hit = {task.items_per_hit}"
        )
    else:
        yield (
            f"{where} {file.tables.task} shows one item; number its placeholders and fields, as "
            f"${{image1}} and caption1 to ${{image{in_hit}}} and caption{in_hit}, or write "
            "items_per_hit = 1"
        )


def _faults_of_silent_rules(file: CampaignFile, task: Task) -> list[str]:
    """Return errors for rules of the policy that name a heuristic that is off."""
    settings = {**task.heuristics, **values.heuristics(file.tables)}
    return [
        f"{file.path}: policy rule {number}: any_of names {name!r}, which is off; "
        f"[heuristics.{name}] switches it on"
        for number, rule in enumerate(values.policy(file.tables), start=1)
        for name in rule.any_of
        if not is_on(name, settings)
    ]


def _faults_of_experiment(file: CampaignFile, task: Task) -> Iterator[str]:
    """Yield why the campaign's pages cannot be compared at random."""
    table = file.tables.experiment
    if table is None:
        return
    where = file.at("experiment")
    if task.html_page is not None:
        yield f"{where}: a requester's own page has no place for it; leave it out"
    elif not text_fields(task):
        yield f"{where}: {task.name} asks for no text, so there is nothing to type"


def _faults_of_practice(file: CampaignFile, task: Task, items: Sequence[Item]) -> Iterator[str]:
    """Yield which trials no page would show."""
    trials = [item.item_id for item in items if item.columns.get(PRACTICE)]
    if trials and task.html_page is not None:
        yield (
            f"{file.path}: {PRACTICE} is set for {plural(len(trials), 'item')}, first "
            f"{trials[0]!r}, but the page shows no trials; leave the column out, or rename it"
        )


def _faults_of_inputs(task: Task, items: Sequence[Item]) -> Iterator[str]:
    """Yield why workers can fill in nothing: neither the page nor an item has an input."""
    page = task.html_page
    if page is None or task.own is None or not items or len(task.fields) > 1:
        return
    controls = controls_in(page.html)
    if controls.has_script or controls.has_varying_names or task.fields[0].sent_as != REST:
        return
    template = template_of(page)
    inserted = {gap.column for gap in template.gaps if gap.inserts_markup}
    cells = (value_of(item.columns, name) for item in items for name in inserted)
    if not any(controls_of(cell).by_name for cell in cells if is_markup(cell)):
        yield (
            f"{task.own.path}: the page has nothing to fill in, and no item has an input for it; "
            "give its inputs names"
        )


def _faults_of_compared_field(file: CampaignFile, task: Task) -> Iterator[str]:
    """Yield why votes for a field that a heuristic names cannot be compared."""
    settings = {**task.heuristics, **values.heuristics(file.tables)}
    stated = settings.get(text_disagreement.NAME) or {}
    if "field" not in stated:
        return
    params = params_of(text_disagreement, settings, seed=0)
    where = file.at("heuristics", text_disagreement.NAME, "field")
    choices = {field.name: field for field in task.item_fields if field.kind == "choice"}
    if params.field not in choices:
        known = "its choices are: " + ", ".join(choices) if choices else "it asks none"
        yield (
            f"{where}: {task.name} asks no choice {params.field!r} about each item"
            f"{did_you_mean(params.field, choices, then=known)}"
        )


def _faults_of_canary(file: CampaignFile, task: Task, items: Sequence[Item]) -> Iterator[str]:
    """Yield why the page cannot hide a word for programs, or people would use it."""
    word = planted_word({**task.heuristics, **values.heuristics(file.tables)})
    where = file.at("heuristics", "canary", "word")
    if word and task.html_page is not None:
        yield f"{where}: a requester's own page has no place for it; leave it out"
    shown = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    for item in items if word else ():
        if any(shown.search(item.columns.get(name, "")) for name in task.shown_columns):
            yield (
                f"{where}: {word!r} is in item {item.item_id}, so people may use it "
                "too; choose another word"
            )
            return


def _faults_of_as_needed(file: CampaignFile, task: Task) -> list[str]:
    """Return an error if answers are asked as needed but nothing says how sure they are."""
    if isinstance(file.tables.answers, int):
        return []
    labelled = {field.name for field in (*task.label_fields, *task.merged_fields)}
    others = [
        field.name
        for field in task.item_fields
        if field.name not in labelled and not field.optional
    ]
    if labelled and not others:
        return []
    reason = (
        f"{task.name} also asks for {' and '.join(others)}"
        if labelled
        else f"{task.name} has no such field"
    )
    where = file.at("answers")
    fault = (
        f"{where}: least, most and until are for tasks that ask for one of several options "
        f"with one right answer, for marks or for transcripts, but {reason}; write a plain number"
    )
    return [fault]


def _faults_of_dataset(file: CampaignFile, items: Sequence[Item]) -> list[str]:
    table, faults = file.tables.dataset, []
    names_column = table.split_by or isinstance(table.splits, str)
    known = list(dict.fromkeys(name for item in items for name in item.columns if names_column))
    if items and table.split_by and table.split_by not in known:
        faults.append(
            f"{file.at('dataset', 'split_by')}: the items have no column "
            f"{table.split_by!r}; the columns are {', '.join(known)}"
        )
    if items and isinstance(table.splits, str) and table.splits not in known:
        faults.append(
            f"{file.at('dataset', 'splits')}: the items have no column "
            f"{table.splits!r}; the columns are {', '.join(known)}"
        )
    faults += [
        f"{file.at('dataset', 'splits')}: {fault}"
        for fault in faults_of_splits(items, values.publication(file.tables).shares)[:_MOST_FAULTS]
    ]
    in_files = items if table.pictures == "files" else ()
    elsewhere = next((item for item in in_files if urlsplit(item.picture).netloc), None)
    if elsewhere is not None:
        faults.append(
            f"{file.at('dataset', 'pictures')}: is 'files', but the url of "
            f"{elsewhere.item_id} is on another host; put the pictures into a "
            "folder and name it in pictures, or write 'addresses'"
        )
    return faults
