import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The bill of materials of the production packages, which `npm sbom` writes in the CycloneDX format. */

/** The part of the bill of materials that a test reads. */
export interface Sbom {
  readonly bomFormat: string
  readonly specVersion: string
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly SbomComponent[]
}

interface SbomComponent {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes?: readonly { readonly alg: string }[]
  readonly licenses?: readonly unknown[]
}

/**
 * The text of the bill of materials. `npm sbom --omit=dev` (npm 11) also omits production packages that a development package
 * needs, such as `graphql` and `ws`. So npm gets a lock file without the development packages.
 */
export async function sbomText(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-sbom-'))
  // npm uses the name of the folder as the name of the product.
  const cwd = join(folder, 'ledger-gateway')
  try {
    await mkdir(cwd)
    writeFileSync(join(cwd, 'package.json'), JSON.stringify(forProduction(read('package.json'))))
    writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify(productionLock()))
    const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx']
    const { stdout } = await promisify(execFile)('npm', [...words, '--sbom-type=application'], {
      cwd,
      maxBuffer: 16 * 1024 * 1024,
    })
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The used members of a package in the lock file. */
export interface LockedPackage {
  readonly version?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly devDependencies?: object
}

/** The production packages by path. */
export function productionPackages(): readonly (readonly [path: string, LockedPackage])[] {
  return Object.entries(productionLock().packages).filter(([path]) => path !== '')
}

function productionLock(): { readonly packages: Readonly<Record<string, LockedPackage>> } {
  const { packages, ...lock }: { packages: Record<string, LockedPackage> } =
    read('package-lock.json')
  const kept = Object.entries(packages).flatMap(([path, entry]) => {
    if (path === '') return [[path, forProduction(entry)] as const]
    const isOfProduction = path.startsWith('node_modules/') && !entry.dev && !entry.link
    return isOfProduction ? [[path, entry] as const] : []
  })
  return { ...lock, packages: Object.fromEntries(kept) }
}

function forProduction({ devDependencies: _, ...rest }: LockedPackage): LockedPackage {
  return rest
}

function read(file: string) {
  return JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
}
