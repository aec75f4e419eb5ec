import { render } from 'preact'
import { App, startPages } from './app.tsx'
import { startKeyboard } from './frame/keyboard.tsx'
import { startLive } from './live.ts'
import { frame } from './network.ts'
import { startCopying } from './parts/values/copy.tsx'
import { startClock } from './parts/values/time.tsx'
import { startRouter } from './router.ts'
import './styles/base.css'
import './styles/frame.css'
import './styles/status.css'
import './styles/parts.css'
import './styles/pages.css'
import './styles/chains.css'
import './styles/tools.css'
import './styles/print.css'
import './styles/forced-colors.css'

/** Starts the explorer. */

startRouter()
startKeyboard()
startClock()
startCopying()
startPages()
const stop = frame.subscribe((known) => {
  if (known === undefined) return
  startLive()
  queueMicrotask(() => stop())
})
const app = document.querySelector('#app')
if (app !== null) render(<App />, app)
