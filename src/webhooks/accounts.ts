import { webhookFormat } from '../compat/apis.ts'
import { invalidRequest } from '../domain/errors.ts'
import type { KeyId } from '../domain/ids.ts'
import { isWithin, type KeyCaller, type Permissions } from '../domain/permissions.ts'
import type { Core } from '../storage/core.ts'
import { keysMadeFor, lineageOf, liveKeyOf } from '../storage/credentials.ts'
import type { Seal } from '../system/seal.ts'

/** The account of a webhook: its key, and the key's secret (`token`), which signs its events. */
export type Account = {
  readonly key: string
  readonly token: string
  readonly caller: KeyCaller
}

/** Called before each attempt, because a key may have ended since the last one. `lineage`: the webhook's key. */
export type AccountOf = (lineage: KeyId) => Account | 'ended'

export function createAccounts({ db, clock }: Core, { seal }: { readonly seal: Seal }): AccountOf {
  return (lineage) => {
    const live = liveKeyOf(db, lineage, clock.now())
    const sealed = live?.sealedSecret ?? null
    const token = live === null || sealed === null ? null : seal.open(sealed, live.id)
    if (live === null || token === null) return 'ended'
    const { key, madeFor, permissions } = live
    const caller = { kind: 'key', keyId: live.id, lineage, madeFor, permissions } as const
    return { key, token: Buffer.from(token).toString(), caller }
  }
}

/** The lineage of the key that signs a new webhook of this format; null if the format needs none. */
export function accountLineageFor(
  { db, clock }: Core,
  asked: { readonly keyId: string | null; readonly format: string | null },
  own: Permissions,
): KeyId | null {
  const { keyId, format } = asked
  const wrong = (message: string) => invalidRequest({ path: 'key_id', message })
  if (format === null || webhookFormat(format)?.hasAccount !== true) {
    if (keyId === null) return null
    throw wrong('is for formats whose webhooks a key signs')
  }
  const may = keysMadeFor(db, format, clock.now()).filter((lineage) => {
    const live = liveKeyOf(db, lineage, clock.now())
    return live !== null && isWithin(live.permissions, own)
  })
  const wanted = keyId === null ? null : lineageOf(db, keyId as KeyId) // Only compared with ids.
  const found = may.filter((lineage) => wanted === null || lineage === wanted)
  const [first] = found
  if (first !== undefined && found.length === 1) return first
  const some =
    may.length === 0 ? `hookline keys create --for ${format}` : may.slice(0, 5).join(', ')
  throw wrong(`must be the id of a key that was made for ${format}: ${some}`)
}
