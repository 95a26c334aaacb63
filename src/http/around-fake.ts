import type { AttachmentStore } from '../attachments/store.ts'
import type { Clock } from '../system/clock.ts'
import type { Post } from '../webhooks/post.ts'
import type { Binding } from './bind.ts'
import type { Hosts } from './hosts.ts'
import type { Listener } from './listener.ts'

/** The surroundings of a relay in `hookline fake`. */
export type AroundFake = {
  /** It outlives the relay. */
  readonly listener: Listener
  /** Operations that no other relay has. */
  readonly bindings: readonly Binding[]
  /** Wraps all posts to webhooks and alert channels. */
  readonly aroundPost: (post: Post) => Post
  readonly createStore: (...given: ConstructorParameters<typeof AttachmentStore>) => AttachmentStore
  /** Replaces the names that a relay answers to. */
  readonly hosts: Partial<Hosts>
  /** Its address for clients. */
  readonly url: () => string
  /** The clock of callers that wait for an answer. */
  readonly callerClock: Clock
  /** The secret of every new webhook. */
  readonly webhookSecret: Uint8Array
}
