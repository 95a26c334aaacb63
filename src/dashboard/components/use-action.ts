// What a button or a form has the relay do, once at a time, and why it was refused.
//
//   const remove = useAction(() => api.remove(`webhooks/${id}`), () => notices.done('Deleted.'))
//   <Button isBusy={remove.isBusy} onClick={remove.start}>…  <FailureNote failure={remove.failure} />

import { useSignal } from '@preact/signals'

import { isDeclined } from '../api.ts'
import type { Answer, Failure } from '../request.ts'

export type Action<Wanted extends readonly unknown[]> = {
  readonly isBusy: boolean
  /** Null as long as nothing was refused, and where the owner kept the password to themselves. */
  readonly failure: Failure | null
  readonly start: (...wanted: Wanted) => void
}

/** `onRefused` is told what `failure` holds, for a refusal that has no place of its own. */
export function useAction<T, Wanted extends readonly unknown[] = []>(
  call: (...wanted: Wanted) => Promise<Answer<T>>,
  onDone: (value: T) => void = () => {},
  onRefused: (failure: Failure) => void = () => {},
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
    else if (failure.value !== null) onRefused(failure.value)
  }
  return {
    isBusy: isBusy.value,
    failure: failure.value,
    start: (...wanted) => void run(wanted),
  }
}
