// Who wrote what to whom: the list on the left, one conversation on the right; on a phone one of them.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

import { Button } from '../components/button.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useFocusRescue } from '../components/use-focus-rescue.ts'
import { useDashboard } from '../dashboard.ts'
import { useLines } from '../sources.ts'
import { ConversationList } from './conversation-list.tsx'
import { NewConversation } from './new-conversation.tsx'
import { Thread } from './thread.tsx'

export function ConversationsPage() {
  const { router } = useDashboard()
  const [id] = router.route.value.path
  const lines = useLines().value?.data ?? []
  const isWriting = useSignal(false)
  const write = () => (isWriting.value = true)
  const heading = useRef<HTMLHeadingElement>(null)
  const pane = useRef<HTMLElement>(null)
  useFocusRescue(id === undefined ? heading : pane, id)
  return (
    <div class={`conversations ${id === undefined ? '' : 'has-thread'}`}>
      <h1 class="visually-hidden" tabIndex={-1} ref={heading}>
        Conversations
      </h1>
      <ConversationList lines={lines} selected={id ?? null} onWrite={write} />
      <section class="thread-pane" aria-label="Conversation" tabIndex={-1} ref={pane}>
        {id === undefined ? (
          <EmptyState
            icon="conversations"
            title="No conversation is open"
            action={
              <Button icon="plus" onClick={write}>
                New conversation
              </Button>
            }
          >
            Choose one from the list, or begin a new one.
          </EmptyState>
        ) : (
          <Thread key={id} id={id} lines={lines} />
        )}
      </section>
      {isWriting.value && (
        <NewConversation lines={lines} onClose={() => (isWriting.value = false)} />
      )}
    </div>
  )
}
