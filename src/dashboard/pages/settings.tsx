// What can be set while the relay runs, and what it was started with.

import { Card } from '../components/card.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { together } from '../store.ts'
import { AboutSection } from './settings-about.tsx'
import { BackupsSection } from './settings-backups.tsx'
import { MessagesSection } from './settings-messages.tsx'
import { MonitoringSection } from './settings-monitoring.tsx'
import { NetworkSection } from './settings-network.tsx'
import type { About, Backup, BrowserSession, Data, Setting } from './settings-resources.ts'
import { SecuritySection } from './settings-security.tsx'
import { useAbout, useBackups, useBrowsers, useSettings } from './settings-sources.ts'
import { ThemeSection } from './settings-theme.tsx'

type Shown = {
  readonly settings: Data<Setting>
  readonly backups: Data<Backup>
  readonly browsers: Data<BrowserSession>
  readonly about: About
}

export function SettingsPage() {
  const all = together<Shown>({
    settings: useSettings(),
    backups: useBackups(),
    browsers: useBrowsers(),
    about: useAbout(),
  })
  return (
    <>
      <PageHead title="Settings">Each change is saved at once.</PageHead>
      <div class="settings">
        <ThemeSection />
        <WhenReady of={all} skeleton={<Opening />}>
          {({ backups, browsers, about }) => (
            <>
              <NetworkSection about={about} />
              <MessagesSection />
              <BackupsSection backups={backups.data} folder={about.backup_folder} />
              <SecuritySection
                browsers={browsers.data}
                isPasswordLocked={about.is_password_locked}
              />
              <MonitoringSection />
              <AboutSection about={about} />
            </>
          )}
        </WhenReady>
      </div>
    </>
  )
}

function Opening() {
  return (
    <Card>
      <Skeleton kind="line" count={8} />
    </Card>
  )
}
