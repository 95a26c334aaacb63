// Files that the browser saves. `fetch` reads them, because a plain link can't send the page key.

import type { CallOf, OperationId } from '../api.ts'
import { later } from '../clock.ts'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { plainName } from '../words/attachments.ts'
import { Button } from './button.tsx'

/** Enough time for the browser to start saving. */
const SAVING_MS = 60_000

type Props<Id extends OperationId> = Parameters<typeof Button>[0] & {
  readonly id: Id
  readonly call: CallOf<Id>
  readonly name: string
}

export function DownloadButton<Id extends OperationId>(props: Props<Id>) {
  const { id, call, name, ...button } = props
  const { api, clock } = useDashboard()
  const { isBusy, start } = useQuickAction(
    () => api.bytes(id, call),
    (bytes) => {
      // With this type, browsers save the file instead of showing it.
      const blob = new Blob([bytes], { type: 'application/octet-stream' })
      const link = document.createElement('a')
      link.href = URL.createObjectURL(blob)
      link.download = plainName(name)
      link.click()
      later(clock, SAVING_MS, () => URL.revokeObjectURL(link.href))
    },
  )
  return <Button icon="download" {...button} isBusy={isBusy} onClick={start} />
}
