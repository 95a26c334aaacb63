// Files that the browser saves. They are read with the page key, which a link could not send.

import type { CallOf, OperationId } from './api.ts'
import { later } from './clock.ts'
import { useAction, type Action } from './components/use-action.ts'
import { useDashboard } from './dashboard.ts'
import { plainName } from './words/attachments.ts'

/** Long enough for a browser to begin with it. */
const SAVING_MS = 60_000

/** Saves the file that an operation answers with, under a name. */
export function useDownload<Id extends OperationId>(
  id: Id,
  call: CallOf<Id>,
  name: string,
): Action<[]> {
  const { api, clock, notices } = useDashboard()
  return useAction(
    () => api.bytes(id, call),
    (bytes) => {
      // Of no type: a browser saves it, and has nothing to show it with.
      const blob = new Blob([bytes], { type: 'application/octet-stream' })
      const link = document.createElement('a')
      link.href = URL.createObjectURL(blob)
      link.download = plainName(name)
      link.click()
      later(clock, SAVING_MS, () => URL.revokeObjectURL(link.href))
    },
    (failure) => notices.failed(failure.message),
  )
}
