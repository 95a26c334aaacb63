// What can be set while the relay runs, and what it was started with.

import { Card } from '../components/card.tsx'
import { PageHead } from '../components/page-head.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { together } from '../store.ts'
import { AboutSection } from './settings-about.tsx'
import { BackupsSection } from './settings-backups.tsx'
import { MessagesSection } from './settings-messages.tsx'
import { MonitoringSection } from './settings-monitoring.tsx'
import { NetworkSection } from './settings-network.tsx'
import { SecuritySection } from './settings-security.tsx'
import { aboutSource, backupsSource, browsersSource, settingsSource } from './settings-sources.ts'
import { ThemeSection } from './settings-theme.tsx'

export function SettingsPage() {
  const { api } = useDashboard()
  const settings = useLive(settingsSource(api))
  const backups = useLive(backupsSource(api))
  const browsers = useLive(browsersSource())
  const about = useLive(aboutSource())
  const all = [settings, backups, browsers, about]
  return (
    <>
      <PageHead title="Settings">Each change is saved at once.</PageHead>
      <div class="settings">
        <ThemeSection />
        <WhenReady
          loaded={together({
            settings: settings.now,
            backups: backups.now,
            browsers: browsers.now,
            about: about.now,
          })}
          skeleton={<Opening />}
          onRetry={() => all.forEach((each) => each.refresh())}
        >
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
