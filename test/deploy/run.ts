import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert } from '../../src/lib/assert.ts'
import { imageOfCheckout } from './built.ts'
import { canIsolate, startInImage } from './container.ts'
import { buildImage, type Image } from './dockerfile.ts'
import { behindHaproxy } from './haproxy.ts'
import { healthcheck, type Served, untilServed } from './served.ts'

/**
 * `npm run test:deploy`: executes the whole deploy/Dockerfile and starts the image, runs the command of
 * deploy/ledger-gateway.service with an installed package, and starts HAProxy with deploy/haproxy.cfg in front of two gateways of
 * the image, each as far as the machine has the programs. With `-- --built` this checkout replaces the build stage, which takes
 * less time.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const node = process.execPath
const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-deploy-'))
// Other users read its contents too.
chmodSync(folder, 0o755)
try {
  const image = await testImage()
  await testUnit()
  if (has('haproxy')) await behindHaproxy({ image, node, root, folder, say })
  else say('haproxy.cfg: not tested, because haproxy is not installed')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function testImage(): Promise<Image> {
  const image = process.argv.includes('--built')
    ? await imageOfCheckout(folder, node)
    : buildImage(join(root, 'deploy/Dockerfile'), { context: root, folder, node })
  say(`Dockerfile: executed; the last stage has ${megabytes(image.root)} MB without its base image`)
  const env = { PORT: '0', DRAIN_DELAY: '0' }
  const served = await untilServed(startInImage(image, { words: image.command, env, node }))
  assert((await healthcheck(image, node, served.url)) === 0, 'expected the health check to pass')
  await end(served)
  const how = canIsolate() ? 'on a read-only root, without capabilities' : 'as a plain process'
  say(`Dockerfile: the image started as ${image.user} ${how}, was healthy, and ended on SIGTERM`)
  return image
}

/** Runs the command of the unit with a package that is packed and installed as in docs/deploy.md. */
async function testUnit(): Promise<void> {
  const unit = readFileSync(join(root, 'deploy/ledger-gateway.service'), 'utf8')
  const [, line = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? []
  const prefix = join(folder, 'installed')
  const state = join(folder, 'state')
  mkdirSync(state)
  const run = (...words: string[]) => execFileSync('npm', words, { cwd: root, encoding: 'utf8' })
  const packed = run('pack', '--silent', '--ignore-scripts', '--pack-destination', folder).trim()
  run(
    'install',
    '--silent',
    '--global',
    '--no-audit',
    '--no-fund',
    '--prefix',
    prefix,
    join(folder, packed),
  )
  const words = line.replace('/opt/ledger-gateway', prefix).split(' ')
  const env = { PATH: `${dirname(node)}:${process.env.PATH}`, PORT: '0', DRAIN_DELAY: '0' }
  const [command = '', ...rest] = canIsolate() ? [...asNobody(state), ...words] : words
  const started = spawn(command, rest, { cwd: state, env, stdio: ['ignore', 'pipe', 'pipe'] })
  await end(await untilServed(started))
  say(
    `ledger-gateway.service: ${line} started ${canIsolate() ? 'as nobody ' : ''}on the installed package, and ended on SIGTERM`,
  )
  if (!has('systemd-analyze'))
    return say('ledger-gateway.service: not analysed, because systemd-analyze is not installed')
  const file = join(folder, 'ledger-gateway.service')
  writeFileSync(file, unit.replace(line, words.join(' ')))
  execFileSync('systemd-analyze', ['verify', file], { stdio: 'inherit' })
  const assessment = execFileSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', '--threshold=20', file],
    { encoding: 'utf8' },
  )
  say(`ledger-gateway.service: ${assessment.trim().split('\n').at(-1)}`)
}

/** Gives a folder to the user nobody, and returns the command that drops all rights of root. */
function asNobody(state: string): readonly string[] {
  const nobody = 65_534
  chownSync(state, nobody, nobody)
  const ids = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--no-new-privs']
  return ['setpriv', ...ids, '--inh-caps=-all', '--bounding-set=-all']
}

async function end({ process: gateway, ended, log }: Served): Promise<void> {
  gateway.kill('SIGTERM')
  const [code] = await ended
  assert(code === 0, `expected a clean exit: ${log()}`)
}

function megabytes(path: string): number {
  const files = readdirSync(join(path, 'app'), { recursive: true, withFileTypes: true })
  const bytes = files.map(({ parentPath, name }) => lstatSync(join(parentPath, name)).size)
  return Math.round(bytes.reduce((sum, size) => sum + size, 0) / 1e6)
}

function has(program: string): boolean {
  return spawnSync('which', [program]).status === 0
}

function say(text: string): void {
  console.log(text)
}
