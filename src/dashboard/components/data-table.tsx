import type { ComponentChildren } from 'preact'

export type Column<T> = {
  readonly title: string
  readonly isTitleHidden?: boolean | undefined
  readonly isFigure?: boolean | undefined
  readonly cell: (row: T) => ComponentChildren
}

type Props<T> = {
  /** Read aloud, not shown. */
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
}

type Row = { readonly id: string } | { readonly name: string }

/** A table that becomes one card per row below 640 px. The first column heads its row. */
export function DataTable<T extends Row>({ caption, columns, rows }: Props<T>) {
  // The roles are explicit because browsers drop the elements' meaning if CSS turns them into blocks.
  return (
    <table class="table" role="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.title}
              scope="col"
              role="columnheader"
              class={column.isFigure === true ? 'figures' : undefined}
            >
              <span class={column.isTitleHidden === true ? 'visually-hidden' : undefined}>
                {column.title}
              </span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={'id' in row ? row.id : row.name} role="row">
            {columns.map((column, place) => (
              <Cell key={column.title} column={column} row={row} isHead={place === 0} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type CellProps<T> = {
  readonly column: Column<T>
  readonly row: T
  readonly isHead: boolean
}

function Cell<T>({ column, row, isHead }: CellProps<T>) {
  const content = column.cell(row)
  const figures = column.isFigure === true ? 'figures' : undefined
  if (isHead) {
    return (
      <th scope="row" role="rowheader" class={figures}>
        {content}
      </th>
    )
  }
  return (
    <td role="cell" class={figures} data-title={column.isTitleHidden === true ? '' : column.title}>
      {content}
    </td>
  )
}
