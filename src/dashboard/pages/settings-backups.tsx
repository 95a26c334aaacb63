import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Icon } from '../components/icon.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import type { Backup } from '../resources.ts'
import { backupKindWords, momentWords, sizeWords } from '../settings-words.ts'
import { useBackups } from '../sources.ts'
import { Section, TextSetting } from './settings-fields.tsx'

type Props = {
  readonly backups: readonly Backup[]
  readonly folder: string | null
}

export function BackupsSection({ backups, folder }: Props) {
  return (
    <Section title="Backups" about="A verified copy of the database, daily and on demand.">
      <BackupNow />
      <BackupList backups={backups} />
      <TextSetting
        name="backups_kept"
        label="Daily backups to keep"
        type="number"
        hint="From 1 to 365. Older ones are deleted."
      />
      <p class="small quiet">
        {folder === null ? (
          <>
            To store daily backups in a second folder, ideally on another disk, set{' '}
            <code>HOOKLINE_BACKUP_FOLDER</code>.
          </>
        ) : (
          <>
            Daily backups are also stored in <code>{folder}</code>.
          </>
        )}
      </p>
      <HowToRestore />
    </Section>
  )
}

function BackupNow() {
  const { api, notices } = useDashboard()
  const backups = useBackups()
  const { isBusy, failure, start } = useAction(
    () => api.post('backup'),
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

function BackupList({ backups }: Pick<Props, 'backups'>) {
  const { clock } = useDashboard()
  const now = clock.now.value
  if (backups.length === 0) {
    return <p class="quiet">No backups yet. The first one is created within a day.</p>
  }
  const columns: readonly Column<Backup>[] = [
    { title: 'Created', cell: ({ created_at }) => momentWords(created_at, now) },
    { title: 'Type', cell: backupKindWords },
    { title: 'Size', isFigure: true, cell: ({ size_bytes }) => sizeWords(size_bytes) },
    {
      title: 'Download',
      isTitleHidden: true,
      isFigure: true,
      cell: (backup) => <Download backup={backup} />,
    },
  ]
  return (
    <div class="settings-table">
      <DataTable caption="Backups" rows={backups} columns={columns} />
    </div>
  )
}

function Download({ backup }: { readonly backup: Backup }) {
  const { api, clock, notices } = useDashboard()
  const { name, created_at } = backup
  const { isBusy, start } = useAction(
    () => api.post<{ readonly url: string }>('/dashboard/downloads', { backup: name }),
    ({ url }) => {
      // The browser downloads it straight to the disk: a database may be larger than its memory.
      const link = document.createElement('a')
      link.href = url
      link.download = name
      link.click()
    },
    ({ message }) => notices.announce(message),
  )
  return (
    <Button isBusy={isBusy} onClick={start}>
      Download
      <span class="visually-hidden"> backup of {momentWords(created_at, clock.now.value)}</span>
    </Button>
  )
}

function HowToRestore() {
  return (
    <details class="settings-more">
      <summary>
        <Icon name="forward" />
        How to restore a backup
      </summary>
      <div class="stack">
        <p>
          On the computer that runs Hookline, run these commands with the backup's name in place of
          FILE. Nothing is sent as a result: messages that were queued then are marked uncertain.
        </p>
        <CodeBlock what="Commands" text={'hookline down\nhookline restore FILE\nhookline up'} />
        <p>
          Backups in this list contain the database only. To create a single file for moving to
          another computer, with secrets and options:
        </p>
        <CodeBlock what="Command" text="hookline backup --to FILE" />
      </div>
    </details>
  )
}
