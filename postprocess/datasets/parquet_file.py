"""Write Parquet with typed columns; the same table gives the same bytes."""

from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from piecework.postprocess.datasets.file_table import FileTable


def write_parquet(table: FileTable, file: BinaryIO, *, warning: str = "") -> None:
    """Write a table with a row group per batch; NaN becomes null.

    A warning is stored in the metadata under `warning`.
    """
    schema = pa.schema(
        list(table.types.items()), metadata={"warning": warning} if warning else None
    )
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in table.batches():
            cells = [
                pa.array(batch[name], type=type_, from_pandas=True)
                for name, type_ in table.types.items()
            ]
            writer.write_table(pa.Table.from_arrays(cells, schema=schema))
