import type { Backup } from '../../api/owner.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { Icon } from '../components/icon.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { useBackups } from '../sources.ts'
import { sizeWords } from '../words/common.ts'
import { SETTINGS as WORDS, backupKindWords, momentWords } from '../words/settings.ts'
import { Section, TextSetting } from './settings-fields.tsx'

type Props = {
  readonly backups: readonly Backup[]
  readonly folder: string | null
}

export function BackupsSection({ backups, folder }: Props) {
  return (
    <Section name="backups" words={WORDS.backups}>
      <BackupNow />
      <BackupList backups={backups} />
      <TextSetting name="backups_kept" type="number" />
      <p class="small quiet">
        {folder === null ? WORDS.secondFolderBefore : WORDS.storedIn}
        <code>{folder ?? 'HOOKLINE_BACKUP_FOLDER'}</code>
      </p>
      <details class="settings-more">
        <summary>
          <Icon name="forward" />
          {WORDS.howToRestore}
        </summary>
        <div class="stack">
          <p>{WORDS.howToRestoreWords}</p>
          <CodeBlock what={WORDS.commands} text={RESTORE} />
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
      notices.done(WORDS.backedUp)
    },
  )
  return (
    <>
      <div class="actions">
        <Button isBusy={isBusy} onClick={start}>
          {WORDS.backUpNow}
        </Button>
      </div>
      <FailureNote failure={failure} />
    </>
  )
}

function BackupList({ backups }: Pick<Props, 'backups'>) {
  if (backups.length === 0) return <p class="quiet">{WORDS.noBackups}</p>
  const columns: readonly Column<Backup>[] = [
    { title: WORDS.created, cell: ({ created_at }) => momentWords(created_at) },
    { title: WORDS.type, cell: backupKindWords },
    { title: WORDS.size, isFigure: true, cell: ({ size_bytes }) => sizeWords(size_bytes) },
    {
      title: WORDS.download,
      isTitleHidden: true,
      isFigure: true,
      cell: (backup) => <Download backup={backup} />,
    },
  ]
  return (
    <div class="settings-table">
      <DataTable caption={WORDS.backups[0]} rows={backups} columns={columns} />
    </div>
  )
}

/** The download of a backup; of everything for null. */
export function useDownload(name: string | null) {
  const { api, notices } = useDashboard()
  return useAction(
    () => api.call('createDownload', { body: { backup: name } }),
    ({ url }) => {
      // The browser downloads it straight to the disk: a database may be larger than its memory.
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
      {WORDS.download}
      <span class="visually-hidden">{WORDS.ofBackup(momentWords(backup.created_at))}</span>
    </Button>
  )
}
