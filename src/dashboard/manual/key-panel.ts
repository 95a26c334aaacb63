// The key that the forms of the API page send. A signed-in owner gets one from the relay by the dashboard's session;
// everyone else enters their own. The page keeps it in memory only.

import { SCOPES } from '../../domain/permissions.ts'
import { request } from '../api.ts'

const LIFE_MS = 3_600_000
/** A key that lasts an hour must not create credentials that last longer. */
const WITHOUT: readonly string[] = ['keys:write', 'bridges:write']

export async function offerKey(useKey: (key: string, secret: string) => void): Promise<void> {
  const own = document.querySelector<HTMLFormElement>('#own-key')
  const given = document.querySelector<HTMLFormElement>('#given-key')
  const state = document.querySelector('#key-state')
  const password = own?.querySelector('label')
  if (!own || !given || !state || !password) return
  given.addEventListener('submit', (event) => {
    event.preventDefault()
    useKey(valueOf(given, 'key'), valueOf(given, 'secret'))
    state.textContent = 'The forms below use this key until you leave the page.'
  })
  const useOwn = async () => {
    const made = await createKey(valueOf(own, 'password'))
    own.hidden = made.ok
    password.hidden = false
    if (made.ok) useKey(made.value.key, made.value.secret)
    state.textContent = made.ok
      ? 'The forms below use a key that ends in an hour.'
      : made.failure.message
  }
  own.addEventListener('submit', (event) => {
    event.preventDefault()
    void useOwn()
  })
  const session = await request('getSession')
  if (!session.ok || session.value.state !== 'signed_in' || session.value.member !== undefined)
    return
  password.hidden = session.value.elevated_until !== null
  own.hidden = false
}

function valueOf(form: HTMLFormElement, name: string): string {
  return form.querySelector<HTMLInputElement>(`[name=${name}]`)?.value ?? ''
}

async function createKey(password: string) {
  if (password !== '') {
    const elevated = await request('elevate', { body: { password } })
    if (!elevated.ok) return elevated
  }
  const body = {
    name: 'API page',
    scopes: SCOPES.filter((scope) => !WITHOUT.includes(scope)),
    expires_at: new Date(Date.now() + LIFE_MS).toISOString(),
  }
  return request('createKey', { body })
}
