// What the API answers about keys, typed by its schemas.

import type { Static } from 'typebox'

import type * as schemas from '../../http/schemas.ts'

export type Key = Static<typeof schemas.KeyList>['data'][number]
export type CreatedKey = Static<typeof schemas.CreatedKey>
export type RevokedKey = Static<typeof schemas.RevokedKey>
