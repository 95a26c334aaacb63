import type { Attachment } from '../../api/attachments.ts'
import type { CallArguments } from '../../api/client.ts'
import type { Answer, Call, OperationId } from '../../api/operations.ts'

/** The relay, with the rights of the child's key. Its calls throw what the client of the API throws. */
export type ImsgRelay = {
  ask<Id extends OperationId>(id: Id, ...given: CallArguments<Id>): Promise<Answer<Id>>
  upload(name: string, bytes: ReadableStream<Uint8Array>): Promise<Attachment>
  download<Id extends OperationId>(id: Id, call: Call<Id>): AsyncIterable<Uint8Array>
}
