import { pagesFit } from './pages.ts'
import { COMPUTER } from './stage.ts'

pagesFit('computer', { viewport: COMPUTER })
