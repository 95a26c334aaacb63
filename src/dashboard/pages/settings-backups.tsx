// Backups: the list, everything as one file, restoring one, and checking for updates. For a restore the relay restarts,
// and the page waits.

import { useSignal, type Signal } from '@preact/signals'

import type { UpdateState, UploadedBackup, Backup } from '../../api/owner.ts'
import type { Failure } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { ActionDialog, Dialog } from '../components/dialog.tsx'
import { FileButton } from '../components/file-button.tsx'
import { Icon } from '../components/icon.tsx'
import { Facts } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { type Dashboard, useDashboard, useAction } from '../dashboard.ts'
import { useBackups } from '../sources.ts'
import { COMMON, sizeWords, countWords } from '../words/common.ts'
import { momentWords } from '../words/settings.ts'
import { Section, TextSetting, useSetting } from './settings-fields.tsx'

const POLL_MS = 1_000

type Step =
  | { readonly at: 'upload'; readonly share: number; readonly end: AbortController }
  | { readonly at: 'review'; readonly found: UploadedBackup }
  | { readonly at: 'restart' }

export function MoveSection() {
  const { api } = useDashboard()
  const step = useSignal<Step | null>(null)
  const failure = useSignal<Failure | null>(null)
  const download = useDownload(null)

  async function upload(file: File) {
    failure.value = null
    // Asks for the password, if needed, before the upload.
    const cleared = await api.call('discardRestore')
    if (!cleared.ok) return void (failure.value = cleared.failure)
    const end = new AbortController()
    const onProgress = (share: number) => (step.value = { at: 'upload', share, end })
    onProgress(0)
    const call = { query: { filename: file.name } }
    const options = { signal: end.signal, onProgress }
    const answer = await api.upload('uploadBackup', call, file, options)
    step.value = answer.ok ? { at: 'review', found: answer.value } : null
    if (!answer.ok && !end.signal.aborted) failure.value = answer.failure
  }
  return (
    <Section name="move">
      <p>
        One file with messages, attachments, contacts, keys, webhooks and their secrets. Anyone who
        has it can read everything: keep it safe.
      </p>
      <div class="actions">
        <Button icon="download" isBusy={download.isBusy} onClick={download.start}>
          Download everything
        </Button>
        <FileButton accept=".tar,.db" onFiles={([file]) => file && void upload(file)}>
          Restore from a file…
        </FileButton>
      </div>
      <FailureNote failure={download.failure ?? failure.value} />
      {step.value !== null && (
        <StepDialog step={step} onFailed={(problem) => (failure.value = problem)} />
      )}
    </Section>
  )
}

type StepProps = {
  readonly step: Signal<Step | null>
  readonly onFailed: (problem: Failure) => void
}

function StepDialog({ step, onFailed }: StepProps) {
  const close = () => (step.value = null)
  return (
    <>
      {step.value?.at === 'upload' && <Uploading {...step.value} />}
      {step.value?.at === 'review' && (
        <Found
          found={step.value.found}
          onClose={close}
          onStart={() => (step.value = { at: 'restart' })}
          onFailed={(problem) => {
            close()
            onFailed(problem)
          }}
        />
      )}
      {step.value?.at === 'restart' && (
        <Dialog title="Restoring…" canClose={false} onClose={close} actions={null}>
          <p role="status">The relay restarts with the backup. This page continues by itself.</p>
        </Dialog>
      )}
    </>
  )
}

function Uploading({ share, end }: { readonly share: number; readonly end: AbortController }) {
  const stop = () => end.abort()
  return (
    <Dialog
      title="Uploading the backup"
      onClose={stop}
      actions={<Button onClick={stop}>{COMMON.cancel}</Button>}
    >
      <p>Everything in it is checked before anything changes.</p>
      {/* At 1, the relay checks the upload. */}
      <progress aria-label="Uploading the backup" {...(share < 1 ? { value: share } : {})} />
    </Dialog>
  )
}

type FoundProps = {
  readonly found: UploadedBackup
  readonly onClose: () => void
  readonly onStart: () => void
  readonly onFailed: (problem: Failure) => void
}

function Found({ found, onClose, onStart, onFailed }: FoundProps) {
  const dashboard = useDashboard()
  const { api } = dashboard
  const action = useAction(
    () => api.call('startRestore', { body: { id: found.id } }),
    () => {
      onStart()
      void follow(dashboard, onFailed)
    },
  )
  const { name, size_bytes, version, latest_message_at, counts, missing_files } = found
  return (
    <ActionDialog
      title="Restore this backup?"
      confirm="Restore"
      variant="danger"
      action={action}
      onClose={onClose}
    >
      <Facts
        of={[
          ['File', <PersonText>{`${name} (${sizeWords(size_bytes)})`}</PersonText>],
          ['Written by', version === null ? 'Unknown' : `Hookline ${version}`],
          ['Latest message', latest_message_at === null ? 'None' : momentWords(latest_message_at)],
          ['Contents', contentsWords(counts)],
        ]}
      />
      {missing_files > 0 && (
        <Callout tone="warn">
          {countWords(missing_files, 'file')} of attachments aren't in it, and will be missing.
        </Callout>
      )}
      {!found.has_secret_key && (
        <Callout tone="warn">
          It doesn't include the secret key: a backup of another computer can't read its webhook
          secrets here.
        </Callout>
      )}
      <p>
        This replaces all data of this relay. The current data is kept in a folder beside it.
        Messages that were queued in the backup are marked uncertain, and nothing is sent.
      </p>
      <p>You then sign in again. For another relay's backup, use the password from that backup.</p>
    </ActionDialog>
  )
}

function contentsWords(counts: UploadedBackup['counts']): string {
  return [
    countWords(counts.messages, 'message'),
    countWords(counts.conversations, 'conversation'),
    countWords(counts.contacts, 'contact'),
    countWords(counts.attachments, 'file'),
    countWords(counts.phone_lines, 'line'),
    countWords(counts.webhooks, 'webhook'),
    countWords(counts.keys, 'key'),
  ].join(', ')
}

/** Waits for the relay: after a restore it no longer knows this session; otherwise it returns the problem. */
async function follow(
  { api, clock, notices, session }: Dashboard,
  onFailed: (problem: Failure) => void,
): Promise<void> {
  const end = new AbortController().signal
  for (;;) {
    await clock.sleep(POLL_MS, end)
    if (session.now.value?.state !== 'signed_in')
      return notices.done('Backup restored. Sign in again.')
    const answer = await api.call('getRestore')
    // The relay has not restarted yet: it still has the upload.
    if (!answer.ok || answer.value.uploaded !== null) continue
    const { outcome } = answer.value
    const message = `The backup was not restored. The previous data is still in place. ${outcome?.problem ?? ''}`
    return onFailed({ code: 'failed', message, status: 0, details: {}, retryAfterSeconds: null })
  }
}

const NO_SOURCE = 'none'

export function UpdatesSection({ version }: { readonly version: string }) {
  const { api } = useDashboard()
  const found = useSignal<UpdateState | null>(null)
  const { isBusy, failure, start } = useAction(
    () => api.call('checkUpdate'),
    (state) => (found.value = state),
  )
  const isSet = useSetting('release_source').setting?.value !== NO_SOURCE
  return (
    <Section name="updates">
      <Facts of={[['Version', version]]} />
      <TextSetting name="release_source" emptyValue={NO_SOURCE} />
      {isSet ? (
        <div class="actions">
          <Button isBusy={isBusy} onClick={start}>
            Check for updates
          </Button>
        </div>
      ) : (
        <HowToUpgrade />
      )}
      {found.value !== null && isSet && <UpdateFound state={found.value} />}
      <FailureNote failure={failure} />
    </Section>
  )
}

/** Shown if no release source is set; an upgrade doesn't need one. */
function HowToUpgrade() {
  return (
    <div class="stack-tight">
      <h3>Upgrade without a release source</h3>
      <p>Put the newer executable on the computer that runs Hookline, and run there:</p>
      <CodeBlock what="Command" text="hookline upgrade --from FILE" />
      <p class="field-hint">
        Add <code>--unverified</code> for a build of your own. The new version is tried on a copy of
        your data first, and the old one comes back if it doesn't start.{' '}
        <a href="/guide/operations#upgrade">How an upgrade works</a>
      </p>
    </div>
  )
}

function UpdateFound({ state: { latest, fix, problem } }: { readonly state: UpdateState }) {
  if (problem !== null) {
    return (
      <Callout tone="warn" role="status" title="The release source couldn't be checked">
        {problem}
      </Callout>
    )
  }
  const title = fix === null ? undefined : `Hookline ${latest ?? ''} is available`
  return (
    <Callout tone={fix === null ? 'ok' : 'plain'} role="status" title={title}>
      {fix ?? 'This is the newest version there.'}
    </Callout>
  )
}

type BackupsProps = { readonly backups: readonly Backup[]; readonly folder: string | null }

export function BackupsSection({ backups, folder }: BackupsProps) {
  return (
    <Section name="backups">
      <BackupNow />
      <BackupList backups={backups} />
      <TextSetting name="backups_kept" type="number" />
      <p class="small quiet">
        {folder === null
          ? 'To store daily backups in a second folder, ideally on another disk, set '
          : 'Daily backups are also stored in '}
        <code>{folder ?? 'HOOKLINE_BACKUP_FOLDER'}</code>
      </p>
      <details class="unfold">
        <summary>
          <Icon name="forward" />
          How to restore on the command line
        </summary>
        <div class="stack">
          <p>
            On the computer that runs Hookline, run these commands with the file's name in place of
            FILE. Nothing is sent as a result: messages that were queued then are marked uncertain.
          </p>
          <CodeBlock what="Commands" text={RESTORE} />
        </div>
      </details>
    </Section>
  )
}

const RESTORE = 'hookline down\nhookline restore FILE\nhookline up'

function BackupNow() {
  const { api, notices } = useDashboard()
  const backups = useBackups()
  const { isBusy, failure, start } = useAction(
    () => api.call('createBackup'),
    () => {
      backups.refresh()
      notices.done('Backup created.')
    },
  )
  return (
    <>
      <div class="actions">
        <Button isBusy={isBusy} onClick={start}>
          Back up now
        </Button>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

function BackupList({ backups }: Pick<BackupsProps, 'backups'>) {
  if (backups.length === 0)
    return <p class="quiet">No backups yet. The first one is created within a day.</p>
  const columns: readonly Column<Backup>[] = [
    { title: 'Created', cell: ({ created_at }) => momentWords(created_at) },
    { title: 'Type', cell: ({ kind }) => (kind === 'daily' ? 'Regular' : 'Before an upgrade') },
    { title: 'Size', isFigure: true, cell: ({ size_bytes }) => sizeWords(size_bytes) },
    {
      title: 'BackupDownload',
      isTitleHidden: true,
      isFigure: true,
      cell: (backup) => <BackupDownload backup={backup} />,
    },
  ]
  return (
    <div class="settings-table">
      <DataTable caption="Backups" rows={backups} columns={columns} />
    </div>
  )
}

/** Downloads the backup `name`; null downloads everything. */
function useDownload(name: string | null) {
  const { api, notices } = useDashboard()
  return useAction(
    () => api.call('createDownload', { body: { backup: name } }),
    ({ url }) => {
      // The browser saves it straight to disk: a database may be larger than the page's memory.
      const link = document.createElement('a')
      link.href = url
      link.download = name ?? ''
      link.click()
    },
    ({ message }) => notices.announce(message),
  )
}

function BackupDownload({ backup }: { readonly backup: Backup }) {
  const { isBusy, start } = useDownload(backup.name)
  return (
    <Button isBusy={isBusy} onClick={start}>
      BackupDownload
      <span class="visually-hidden">{` backup of ${momentWords(backup.created_at)}`}</span>
    </Button>
  )
}
