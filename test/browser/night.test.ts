// What happened, on the page.

import { story } from './story.ts'

story(
  'Home leads to last night, where a change appears by itself, with its name',
  async ({ stage, api, lines: [line] }) => {
    const watched = await stage.page()
    const { page } = watched

    await watched.show('home')
    await page.getByRole('link', { name: 'Last night' }).click()
    await page.getByText('Hookline started.').waitFor()
    await api.ask('PATCH', `/api/v1/phone-lines/${line}`, { label: 'Front desk' })

    await page.getByText(/^Line Front desk changed, /).waitFor()
    await page.getByText(/^Quiet /).waitFor()
    await page.getByRole('link', { name: /^Line Front desk changed, / }).click()
    await page.getByRole('heading', { name: 'Front desk' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Changes and log' }).click()
    await page.getByText('Label: none → Front desk').waitFor()
  },
)
