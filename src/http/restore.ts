// Restores by a browser that is signed in and gave the password: upload, a look at the contents, and the start.

import { Elysia } from 'elysia'
import { Type } from 'typebox'

import { UploadId } from '../api/owner.ts'
import type { Restoring } from '../maintenance/restoring.ts'
import { takes } from './body.ts'
import { fileBodyOf } from './file-body.ts'
import { plainCall } from './operation.ts'
import { readQuery } from './query.ts'
import { contextOf, originOf } from './request-context.ts'

const UploadQuery = Type.Object({ filename: Type.String({ minLength: 1, maxLength: 255 }) })

export function restoreRoutes({ restoring }: { readonly restoring: Restoring }) {
  return new Elysia({ prefix: '/dashboard/restore' })
    .get('', () => restoring.state(), { beforeHandle: plainCall })
    .post(
      '',
      async ({ request }) => {
        const { filename } = readQuery(request, UploadQuery)
        // A large file on a slow connection, and its check: both take as long as they take.
        contextOf(request).peer.liftTimeout(0)
        return restoring.receive((await fileBodyOf(request)).bytes, filename)
      },
      { parse: 'none' },
    )
    .post(
      '/start',
      ({ request, body }) => {
        restoring.start(body.id, originOf(request))
        return { restoring: true as const }
      },
      { beforeHandle: plainCall, ...takes(UploadId) },
    )
    .delete(
      '',
      async () => {
        await restoring.discard()
        return { deleted: true as const }
      },
      { beforeHandle: plainCall },
    )
}
