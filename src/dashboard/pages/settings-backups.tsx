import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Icon } from '../components/icon.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { TextSetting } from './settings-fields.tsx'
import type { Backup } from './settings-resources.ts'
import { Section } from './settings-section.tsx'
import { useBackups } from './settings-sources.ts'
import { backupKindWords, momentWords, sizeWords } from './settings-words.ts'

type Props = {
  readonly backups: readonly Backup[]
  /** Where they go too. */
  readonly folder: string | null
}

/** What there is to go back to. */
export function BackupsSection({ backups, folder }: Props) {
  return (
    <Section
      title="Back-ups"
      about="A verified copy of the database each day, and whenever you like."
    >
      <BackupNow />
      <BackupList backups={backups} />
      <TextSetting
        name="backups_kept"
        label="Daily back-ups that are kept"
        type="number"
        hint="From 1 to 365. Older ones are deleted."
      />
      <SecondFolder folder={folder} />
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
      notices.done('Backed up.')
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
    return <p class="quiet">There is none yet. The first one is made within a day.</p>
  }
  const columns: readonly Column<Backup>[] = [
    { title: 'Made', cell: ({ created_at }) => momentWords(created_at, now) },
    { title: 'Kind', cell: backupKindWords },
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
      <DataTable caption="Back-ups" rows={backups} columns={columns} />
    </div>
  )
}

function Download({ backup }: { readonly backup: Backup }) {
  const { api, clock, notices } = useDashboard()
  const { name, created_at } = backup
  const { isBusy, start } = useAction(
    () => api.post<{ readonly url: string }>('/dashboard/downloads', { backup: name }),
    ({ url }) => {
      // The browser fetches it by itself, to the disk: a database may be larger than its memory.
      const link = document.createElement('a')
      link.href = url
      link.download = name
      link.click()
    },
    ({ message }) => notices.say(message),
  )
  return (
    <Button isBusy={isBusy} onClick={start}>
      Download
      <span class="visually-hidden"> what was made {momentWords(created_at, clock.now.value)}</span>
    </Button>
  )
}

function SecondFolder({ folder }: Pick<Props, 'folder'>) {
  return (
    <p class="small quiet">
      {folder === null ? (
        <>
          <code>HOOKLINE_BACKUP_FOLDER</code> names a second folder for the daily ones, best on
          another disk.
        </>
      ) : (
        <>
          The daily ones go to <code>{folder}</code> too.
        </>
      )}
    </p>
  )
}

function HowToRestore() {
  return (
    <details class="settings-more">
      <summary>
        <Icon name="forward" />
        How to restore one
      </summary>
      <div class="stack">
        <p>
          On the machine of the relay, with the name of the back-up in the place of FILE. Nothing is
          sent because of it: what was waiting then is marked uncertain.
        </p>
        <CodeBlock what="Commands" text={'hookline down\nhookline restore FILE\nhookline up'} />
        <p>
          A back-up from this list is the database alone. One file with all that another machine
          needs, secrets and options too:
        </p>
        <CodeBlock what="Command" text="hookline backup --to FILE" />
      </div>
    </details>
  )
}
