import { render } from 'preact'

import { App } from './app.tsx'
import { createDashboard, DashboardContext } from './dashboard.ts'
import { showTheme } from './theme.ts'

showTheme()

const place = document.querySelector('#app')
if (place !== null) {
  const forever = new AbortController().signal
  const dashboard = createDashboard(window, forever)
  render(
    <DashboardContext.Provider value={dashboard}>
      <App />
    </DashboardContext.Provider>,
    place,
  )
  void dashboard.session.open(dashboard.clock, forever)
}
