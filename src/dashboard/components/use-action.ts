// Runs an action of the relay for a button or form, one at a time:
//
//   const remove = useAction(
//     () => api.call('deleteWebhook', { params: { id } }),
//     () => notices.done('Deleted.'),
//   )
//   <Button isBusy={remove.isBusy} onClick={remove.start}>…  <FailureNote failure={remove.failure} />

import { useSignal } from '@preact/signals'

import { isDeclined, type Answer, type Failure } from '../api.ts'

export type Action<Wanted extends readonly unknown[]> = {
  readonly isBusy: boolean
  /** Null unless the action failed; also null if the owner dismissed the password dialog. */
  readonly failure: Failure | null
  readonly start: (...wanted: Wanted) => void
}

/** `onFailed` is for callers that don't show `failure`. */
export function useAction<T, Wanted extends readonly unknown[] = []>(
  call: (...wanted: Wanted) => Promise<Answer<T>>,
  onDone: (value: T) => void = () => {},
  onFailed: (failure: Failure) => void = () => {},
): Action<Wanted> {
  const isBusy = useSignal(false)
  const failure = useSignal<Failure | null>(null)
  async function run(wanted: Wanted) {
    if (isBusy.value) return
    isBusy.value = true
    const answer = await call(...wanted)
    isBusy.value = false
    failure.value = answer.ok || isDeclined(answer.failure) ? null : answer.failure
    if (answer.ok) onDone(answer.value)
    else if (failure.value !== null) onFailed(failure.value)
  }
  return {
    isBusy: isBusy.value,
    failure: failure.value,
    start: (...wanted) => void run(wanted),
  }
}
