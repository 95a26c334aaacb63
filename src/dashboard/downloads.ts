// Files that the browser saves. `fetch` reads them, because a plain link can't send the page key.

import type { CallOf, OperationId } from './api.ts'
import { later } from './clock.ts'
import { useDashboard, useQuickAction, type Action } from './dashboard.ts'
import { plainName } from './words/attachments.ts'

/** Enough time for the browser to start saving. */
const SAVING_MS = 60_000

export function useDownload<Id extends OperationId>(
  id: Id,
  call: CallOf<Id>,
  name: string,
): Action<[]> {
  const { api, clock } = useDashboard()
  return useQuickAction(
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
}
