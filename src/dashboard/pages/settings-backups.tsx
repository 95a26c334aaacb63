import type { Backup } from '../../api/owner.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Icon } from '../components/icon.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useBackups } from '../sources.ts'
import { sizeWords } from '../words/common.ts'
import { momentWords } from '../words/settings.ts'
import { Section, TextSetting } from './settings-fields.tsx'

type Props = {
  readonly backups: readonly Backup[]
  readonly folder: string | null
}

export function BackupsSection({ backups, folder }: Props) {
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

function BackupList({ backups }: Pick<Props, 'backups'>) {
  if (backups.length === 0)
    return <p class="quiet">No backups yet. The first one is created within a day.</p>
  const columns: readonly Column<Backup>[] = [
    { title: 'Created', cell: ({ created_at }) => momentWords(created_at) },
    { title: 'Type', cell: ({ kind }) => (kind === 'daily' ? 'Regular' : 'Before an upgrade') },
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

/** Downloads the backup `name`; null downloads everything. */
export function useDownload(name: string | null) {
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

function Download({ backup }: { readonly backup: Backup }) {
  const { isBusy, start } = useDownload(backup.name)
  return (
    <Button isBusy={isBusy} onClick={start}>
      Download
      <span class="visually-hidden">{` backup of ${momentWords(backup.created_at)}`}</span>
    </Button>
  )
}
