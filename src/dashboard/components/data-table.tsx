// A table that becomes one card per row below 640 px.
//
//   <DataTable caption="API keys" rows={keys}
//     columns={[{ title: 'Name', cell: (key) => key.name }, { title: 'Calls', cell: …, isFigure: true }]} />
//
// A row is known by its `id`, or by its `name`. The first column heads its row. `caption` is read aloud and not seen. A column without words in its
// head, as that of buttons, has `isTitleHidden`.

import type { ComponentChildren } from 'preact'

export type Column<T> = {
  readonly title: string
  readonly isTitleHidden?: boolean | undefined
  readonly isFigure?: boolean | undefined
  readonly cell: (row: T) => ComponentChildren
}

type Props<T> = {
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
}

type Row = { readonly id: string } | { readonly name: string }

export function DataTable<T extends Row>({ caption, columns, rows }: Props<T>) {
  // The roles are what the elements mean; browsers drop that where CSS makes a block of them.
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
