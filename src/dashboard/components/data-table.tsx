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

/** A table that becomes one card per row if it has little room. The first column heads its row. */
export function DataTable<T extends Row>({ caption, columns, rows }: Props<T>) {
  // The roles are explicit because browsers drop the elements' meaning if CSS turns them into blocks.
  return (
    <div class="table-room">
      <table class="table" role="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} scope="col" role="columnheader" class={classOf(column)}>
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
              {columns.map((column, place) =>
                place === 0 ? (
                  <th key={column.title} scope="row" role="rowheader" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td
                    key={column.title}
                    role="cell"
                    class={classOf(column)}
                    data-title={column.isTitleHidden === true ? '' : column.title}
                  >
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function classOf<T>({ isFigure }: Column<T>): string | undefined {
  return isFigure === true ? 'figures' : undefined
}
