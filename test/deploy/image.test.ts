import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { rest } from '../support/rest.ts'
import { imageOfCheckout } from './built.ts'
import { canIsolate, startInImage } from './container.ts'
import { type Image, instructionsOf } from './dockerfile.ts'
import { collect, healthcheck, untilServed } from './served.ts'

/**
 * The image of deploy/Dockerfile. This checkout, which is built already, replaces the build stage; the instructions after it are
 * executed. `npm run test:deploy` executes all instructions.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = join(root, 'deploy/Dockerfile')
const text = readFileSync(file, 'utf8')
const node = process.execPath

let folder = ''
let image: Image
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-image-'))
  image = await imageOfCheckout(folder, node)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the Dockerfile', () => {
  test('passes the linter, which reports wrong ones', () => {
    expect(validate(text)).toEqual([])
    expect(validate(text.replace('CMD ["serve"]', "CMD ['serve']"))).not.toEqual([])
    expect(validate(text.replace('WORKDIR /app', 'WORKDIRS /app'))).not.toEqual([])
  })

  test('has a separate last stage with a user who is not root and a health check without other programs', () => {
    const instructions = instructionsOf(text)
    const words = (keyword: string) =>
      instructions
        .filter((one) => one.getKeyword() === keyword)
        .map((one) => one.getArgumentsContent())
    expect(words('FROM')).toHaveLength(2)
    expect(words('ADD')).toEqual([])
    // A number, because Kubernetes cannot tell that a named user is not root.
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(image.healthcheck[0]).toBe('node')
    expect(image.healthcheck.join(' ')).toContain('/health/live')
    expect(image.volumes).toEqual(['/app/data'])
  })

  test('ignores files of the context that do not belong into the image', () => {
    const ignored = readFileSync(`${file}.dockerignore`, 'utf8').split('\n')
    for (const name of ['.git', 'data', 'dist', 'src/generated', '**/node_modules']) {
      expect(ignored).toContain(name)
    }
    expect(ignored).not.toContain('test')
  })
})

describe('the image', () => {
  test('contains the program and its bill of materials, and neither sources nor tests', () => {
    const app = join(image.root, 'app')
    const folders = ['data', 'dist', 'node_modules', 'prisma']
    const files = ['LICENSE', 'package.json', 'sbom.cdx.json']
    expect(readdirSync(app).sort()).toEqual([...files, ...folders].sort())
    const bill = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8'))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX' })
    expect(bill.components.length).toBeGreaterThan(20)
  })

  test(`runs as its user on a read-only root${canIsolate() ? '' : ' (here only as this user in its folder)'}`, {
    timeout: 120_000,
  }, async () => {
    const env = { PORT: '0', DRAIN_DELAY: '0' }
    const gateway = startInImage(image, { words: image.command, env, node })
    onTestFinished(() => {
      gateway.kill('SIGKILL')
    })
    const { url, ended } = await untilServed(gateway)
    if (canIsolate()) {
      const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
      expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
      expect(status).toMatch(/^CapEff:\t0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
      const write = ['node', '-e', "require('fs').writeFileSync('/app/dist/other.js', '')"]
      const writing = startInImage(image, { words: write, env, node })
      const output = collect(writing)
      expect(await once(writing, 'exit')).toEqual([1, null])
      expect(output()).toContain('EROFS')
    }
    expect(statSync(join(image.root, 'app/data/ledger-gateway.db')).size).toBeGreaterThan(0)
    expect((await rest(`${url}/health/live`)).status).toBe(200)
    expect(await healthcheck(image, node, url)).toBe(0)
    gateway.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(await healthcheck(image, node, url)).toBe(1)
  })
})
