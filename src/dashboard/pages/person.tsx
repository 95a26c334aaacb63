// One person: conversations on all lines, files, and what is known about them.

import type { Contact, OptOut as OptOutRecord } from '../../api/contacts.ts'
import { href } from '../address.ts'
import { LinkButton } from '../components/button.tsx'
import { ConfirmButton, DialogButton } from '../components/dialog.tsx'
import { Face } from '../components/icon.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { BackLink, Card, PageHead } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { useLines } from '../sources.ts'
import { PEOPLE } from '../words/conversations.ts'
import { lineNameIn } from '../words/line-states.ts'
import { ConversationRow } from './conversation-row.tsx'
import { MessageFiles } from './message-files.tsx'

const CONTACT = lazyDialog(async () => (await import('./contact-form.tsx')).ContactDialog)

const CONVERSATIONS_MAX = 50
/** Files are looked for in this many of the latest messages. */
const MESSAGES_MAX = 200

type Props = { readonly handle: string }

export function PersonPage({ handle }: Props) {
  const contact = useRead('getContact', { params: { handle } }, 'contact')
  const known = contact.value
  const edit = (onClose: () => void) => (
    <CONTACT.View isKnown={known !== null} onChanged={contact.refresh} {...{ handle, onClose }} />
  )
  const latest = useConversations(handle).value?.data[0]
  const writeTo =
    latest === undefined
      ? href('conversations', [], { write: handle })
      : href('conversations', [latest.id])
  return (
    <>
      <div>
        <BackLink href={href('people')}>People</BackLink>
        <div class="person-head">
          <Face handle={handle} name={known?.name} />
          <PageHead
            title={<PersonText>{known?.name ?? numberWords(handle)}</PersonText>}
            actions={
              <>
                <DialogButton dialog={edit}>
                  {known === null ? PEOPLE.add : PEOPLE.edit}
                </DialogButton>
                <LinkButton variant="main" icon="conversations" href={writeTo}>
                  Write
                </LinkButton>
              </>
            }
          >
            {known === null ? 'Not in your contacts' : numberWords(handle)}
          </PageHead>
        </div>
      </div>
      <div class="columns">
        <div class="stack">
          <Conversations handle={handle} />
          <Files handle={handle} />
        </div>
        <div class="stack">
          {known !== null && <About contact={known} />}
          <OptOut handle={handle} />
        </div>
      </div>
    </>
  )
}

function useConversations(handle: string) {
  const query = { handle, type: 'all', limit: CONVERSATIONS_MAX }
  return useRead('listConversations', { query }, 'conversation', 'message')
}

function Conversations({ handle }: Props) {
  const lines = useLines().value?.data ?? []
  return (
    <Card kind="list" title="Conversations">
      <WhenReady of={useConversations(handle)} kind="row" count={2}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon="conversations" title="No messages yet">
              Write the first one.
            </EmptyState>
          ) : (
            <ul class="person-conversations" aria-label="Conversations">
              {data.map((conversation) => (
                <li key={conversation.id}>
                  <ConversationRow
                    conversation={conversation}
                    line={lineNameIn(lines, conversation)}
                    href={href('conversations', [conversation.id])}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </WhenReady>
    </Card>
  )
}

function Files({ handle }: Props) {
  const query = { handle, type: 'all', limit: MESSAGES_MAX }
  const messages = useRead('listMessages', { query }, 'message').value?.data ?? []
  const withFiles = messages.filter(({ attachments = [] }) => attachments.length > 0)
  if (withFiles.length === 0) return null
  return (
    <Card title="Files">
      <div class="person-files">
        {withFiles.map((message) => (
          <MessageFiles key={message.id} message={message} />
        ))}
      </div>
    </Card>
  )
}

function About({ contact: { note, tags } }: { readonly contact: Contact }) {
  if (note === null && tags.length === 0) return null
  return (
    <Card title="About">
      {note !== null && (
        <p class="person-note">
          <PersonText>{note}</PersonText>
        </p>
      )}
      {tags.length > 0 && (
        <p class="row">
          {tags.map((tag) => (
            <a key={tag} class="chip-button" href={href('people', [], { tag })}>
              <PersonText>{tag}</PersonText>
            </a>
          ))}
        </p>
      )}
    </Card>
  )
}

function optOutWords({ keyword }: OptOutRecord): string {
  return keyword === null ? 'Opted out by hand.' : `They texted ${keyword}.`
}

function OptOut({ handle }: Props) {
  const { api, notices } = useDashboard()
  const outs = useRead('listOptOuts', { query: { handle } }, 'contact')
  const done = (words: string) => () => {
    notices.done(words)
    outs.refresh()
  }
  return (
    <Card title="Opt-out">
      <WhenReady of={outs} kind="line" count={1}>
        {({ data: [out] }) => (
          <>
            <p class="small quiet">{out === undefined ? 'Not opted out.' : optOutWords(out)}</p>
            <div class="actions">
              {out === undefined ? (
                <ConfirmButton
                  text="Opt out…"
                  title="Block messages to them?"
                  confirm="Opt out"
                  call={() => api.call('putOptOut', { params: { handle } })}
                  onDone={done('Opt-out added.')}
                >
                  Programs can't write to them any more, unless Settings says otherwise.
                </ConfirmButton>
              ) : (
                <ConfirmButton
                  text="Remove opt-out…"
                  title="Remove this opt-out?"
                  confirm="Remove"
                  call={() =>
                    api.call('deleteOptOut', {
                      params: { handle },
                      query: { phone_line_id: out.phone_line_id },
                    })
                  }
                  onDone={done('Opt-out removed.')}
                >
                  Messages can be sent to them again. Only do this if they asked for it.
                </ConfirmButton>
              )}
            </div>
          </>
        )}
      </WhenReady>
    </Card>
  )
}
