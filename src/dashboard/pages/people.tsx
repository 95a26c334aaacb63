// The address book: search, edit, import and export.

import { type Signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

import type { Contact, ImportReport } from '../../api/contacts.ts'
import { href } from '../address.ts'
import type { Api } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { DialogButton } from '../components/dialog.tsx'
import { DownloadButton } from '../components/download-button.tsx'
import { FileButton } from '../components/file-button.tsx'
import { Chips, FilterFold, useSettled } from '../components/form.tsx'
import { Face } from '../components/icon.tsx'
import { lazyDialog, lazyPage } from '../components/lazy-page.tsx'
import { FeedList } from '../components/long-list.tsx'
import { Dialog } from '../components/modal.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState } from '../components/when-ready.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import { numberWords } from '../numbers.ts'
import { useFeed } from '../use-feed.ts'
import { COMMON, countWords, grouped } from '../words/common.ts'
import { PEOPLE } from '../words/conversations.ts'

const CONTACT = lazyDialog(async () => (await import('./contact-form.tsx')).ContactDialog)
const PERSON = lazyPage(null, async () => (await import('./person.tsx')).PersonPage)
const OPT_OUTS = lazyDialog(async () => (await import('./opt-outs.tsx')).OptOutsDialog)

type Person = Contact & { readonly id: string }

export function PeoplePage() {
  const [handle = ''] = useDashboard().router.route.value.path
  useNewView(handle)
  return handle === '' ? <PersonList /> : <PERSON.View key={handle} handle={handle} />
}

function PersonList() {
  const { api, router } = useDashboard()
  const { tag = '' } = router.route.value.query
  const typed = useSignal('')
  const q = useSettled(typed.value.trim())
  const feed = useFeed(`${q} ${tag}`, personSource(api, q, tag))
  const onChanged = () => feed.refresh()
  const add = (onClose: () => void) => (
    <CONTACT.View handle={null} isKnown={false} {...{ onClose, onChanged }} />
  )
  return (
    <>
      <PageHead
        title="People"
        actions={
          <>
            <ImportButton onDone={onChanged} />
            <DownloadButton id="exportContacts" call={{}} name="contacts.csv">
              Export (CSV)
            </DownloadButton>
            <DialogButton dialog={(onClose) => <OPT_OUTS.View onClose={onClose} />}>
              Opt-outs…
            </DialogButton>
            <DialogButton variant="main" icon="plus" dialog={add}>
              {PEOPLE.add}
            </DialogButton>
          </>
        }
      >
        The people you write with. Webhooks never carry their names.
      </PageHead>
      <div class="find">
        <input
          class="input"
          type="search"
          dir="auto"
          aria-label="Search by name, number or tag"
          placeholder="Search people"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        <PeopleFilters tag={tag} typed={typed} />
      </div>
      <Card kind="list">
        <FeedList
          key={tag}
          feed={feed}
          label="Contacts"
          empty={q === '' && tag === '' ? NO_CONTACTS : NOBODY_FOUND}
          row={(person) => <PersonRow key={person.handle} person={person} />}
        />
      </Card>
    </>
  )
}

/** Tags and letters are taken from this many of the latest contacts. */
const TAGGED_MAX = 200
const TAGS_MAX = 12
/** Fewer people are found without letters. */
const LETTERS_MIN = 12

type FilterProps = { readonly tag: string; readonly typed: Signal<string> }

/** The most common tags, and the letters with which names begin. Shows nothing if there is neither. */
function PeopleFilters({ tag, typed }: FilterProps) {
  const { router } = useDashboard()
  const contacts = useRead('listContacts', { query: { limit: TAGGED_MAX } }, 'contact')
  const found = contacts.value?.data ?? []
  const counts = Map.groupBy(
    found.flatMap(({ tags }) => tags),
    (each) => each,
  )
  const common = [...counts].toSorted(([, one], [, other]) => other.length - one.length)
  const known = new Set([tag, ...common.slice(0, TAGS_MAX).map(([name]) => name)])
  known.delete('')
  const initials = found.flatMap(({ name: [first = ''] }) => first.toUpperCase())
  const letters = found.length < LETTERS_MIN ? [] : [...new Set(initials)].toSorted()
  if (known.size + letters.length === 0) return null
  const show = (name: string) => router.replace(href('people', [], { tag: name }))
  const chips = [...known].map((name) => ({
    text: name,
    isOn: name === tag,
    onPress: () => show(name === tag ? '' : name),
  }))
  return (
    <FilterFold of={[tag]}>
      <Chips
        label="Tags"
        of={[{ text: 'Everyone', isOn: tag === '', onPress: () => show('') }, ...chips]}
      />
      {letters.length > 0 && (
        <Chips
          label="Letters"
          of={letters.map((text) => {
            const isOn = typed.value === text
            return { text, isOn, onPress: () => (typed.value = isOn ? '' : text) }
          })}
        />
      )}
    </FilterFold>
  )
}

function personSource(api: Api, q: string, tag: string): FeedSource<Person> {
  const withId = (contact: Contact) => ({ ...contact, id: contact.handle })
  return {
    page: async (cursor, limit, signal) => {
      const answer = await api.call('listContacts', { query: { q, tag, cursor, limit }, signal })
      if (!answer.ok) return answer
      return { ok: true, value: { ...answer.value, data: answer.value.data.map(withId) } }
    },
    entry: async (handle, signal) => {
      const answer = await api.call('getContact', { params: { handle }, signal })
      return answer.ok ? { ok: true, value: withId(answer.value) } : answer
    },
    idIn: ({ what, id }) => (what === 'contact' ? id : null),
    countMax: 2_000,
  }
}

const NOBODY_FOUND = (
  <EmptyState icon="search" title="No results">
    Try another name, tag or part of the number.
  </EmptyState>
)

const NO_CONTACTS = (
  <EmptyState icon="people" title="No contacts yet">
    Add people one by one, or import a vCard or CSV file from your phone or mail program.
  </EmptyState>
)

function PersonRow({ person }: { readonly person: Contact }) {
  const { handle, name, note, tags, opted_out } = person
  return (
    <li class="person-row">
      <Face handle={handle} name={name} />
      <a class="grow" href={href('people', [handle])}>
        <PersonText in="person-name one-line">{name}</PersonText>
        <PersonText in="quiet one-line">{numberWords(handle)}</PersonText>
        {note !== null && <PersonText in="small quiet one-line">{note}</PersonText>}
      </a>
      {opted_out && <span class="chip chip-warn">{PEOPLE.optedOut}</span>}
      {tags.map((tag) => (
        <PersonText key={tag} in="chip one-line">
          {tag}
        </PersonText>
      ))}
      <LinkButton
        variant="quiet"
        icon="conversations"
        isIconOnly
        href={href('conversations', [], { q: handle })}
      >
        {`Conversations with ${name}`}
      </LinkButton>
    </li>
  )
}

function ImportButton({ onDone }: { readonly onDone: () => void }) {
  const { api } = useDashboard()
  const share = useSignal(0)
  const report = useSignal<ImportReport | null>(null)
  const isOpen = useSignal(false)
  const end = useRef(new AbortController())
  const { failure, start } = useAction(
    (file: File) => {
      const onProgress = (sent: number) => (share.value = sent)
      const options = { signal: end.current.signal, onProgress }
      return api.upload('importContacts', {}, file, options)
    },
    (done) => {
      report.value = done
      onDone()
    },
  )
  const choose = (file: File | undefined) => {
    if (file === undefined) return
    end.current = new AbortController()
    report.value = null
    share.value = 0
    isOpen.value = true
    start(file)
  }
  const close = () => {
    isOpen.value = false
    end.current.abort()
  }
  const isOver = report.value !== null || failure !== null
  return (
    <>
      <FileButton
        icon="file"
        accept=".vcf,.csv,.txt,text/vcard,text/csv"
        onFiles={([file]) => choose(file)}
      >
        Import…
      </FileButton>
      {isOpen.value && (
        <Dialog
          title={report.value === null ? 'Importing contacts' : 'Import finished'}
          onClose={close}
          actions={<Button onClick={close}>{isOver ? COMMON.done : COMMON.cancel}</Button>}
        >
          {!isOver && <Progress share={share.value} />}
          {report.value !== null && <Report report={report.value} />}
          <FailureNote failure={failure} />
        </Dialog>
      )}
    </>
  )
}

function Progress({ share }: { readonly share: number }) {
  // The whole file was sent, and the relay reads it.
  const isReading = share >= 1
  const words = isReading ? 'Adding contacts…' : 'Uploading the file'
  return (
    <>
      <p role="status">{words}</p>
      <progress aria-label={words} max={1} {...(!isReading && { value: share })} />
    </>
  )
}

const ROWS_SHOWN = 100

function Report({ report }: { readonly report: ImportReport }) {
  const { imported, updated, skipped, failed, errors } = report
  const more = failed - Math.min(errors.length, ROWS_SHOWN)
  return (
    <>
      <p role="status">
        {`${grouped(imported)} added, ${grouped(updated)} changed, ${grouped(skipped)} already there.`}
      </p>
      {failed > 0 && (
        <>
          <p>{`${countWords(failed, 'entry')} couldn't be imported:`}</p>
          <ul class="import-errors small" tabIndex={0}>
            {errors.slice(0, ROWS_SHOWN).map(({ row, why }) => (
              <li key={`${row} ${why}`}>
                <PersonText>{`Row ${grouped(row)}: ${why}`}</PersonText>
              </li>
            ))}
            {more > 0 && <li>{`and ${grouped(more)} more`}</li>}
          </ul>
        </>
      )}
    </>
  )
}
