import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './dockerfile.ts'

/** Runs a process of an image the way a container runtime does, as far as the machine allows it. */

/** What a process of an image is started with. */
export interface Start {
  readonly words: readonly string[]
  /** Over the environment of the image. */
  readonly env: Readonly<Record<string, string>>
  /** The program that stands for the one of the base image. */
  readonly node: string
}

/** Whether a process can get a root of its own here: on Linux, for root, where mount namespaces may be made. */
export function canIsolate(): boolean {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  return isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0
}

/**
 * Starts a process of an image. Where `canIsolate`, its root is the image, of which it can write to the volumes and /tmp alone,
 * and it has the user of the image and no capability; elsewhere it is a process in the folder of the image.
 */
export function startInImage(image: Image, { words, env, node }: Start): ChildProcess {
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const { PATH = '' } = process.env
  const all = { PATH, ...image.env, ...env }
  if (!canIsolate()) {
    const cwd = join(image.root, image.workdir)
    return spawn(node, words.slice(1), { cwd, env: all, stdio: [...stdio] })
  }
  addSystemFolders(image.root)
  const [uid, gid] = image.user.split(':')
  const entering = [
    ...['chroot', image.root, 'env', '-i', `--chdir=${image.workdir}`],
    ...Object.entries(all).map(([name, value]) => `${name}=${value}`),
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'],
    ...['--inh-caps=-all', '--bounding-set=-all'],
  ]
  const script = `${mounts(image, node).join('\n')}\nexec "$@"`
  const unshare = ['--mount', '--propagation', 'private', 'sh', '-ec', script, 'sh']
  return spawn('unshare', [...unshare, ...entering, ...words], { stdio: [...stdio] })
}

/** Folders of the machine that stand for those of the base image. */
const systemFolders = ['usr', 'bin', 'sbin', 'lib', 'lib64', 'etc', 'dev', 'proc'] as const

/** The places that they are mounted on; links stay links. */
function addSystemFolders(root: string): void {
  mkdirSync(join(root, 'tmp'), { recursive: true })
  for (const name of systemFolders) {
    const found = lstatSync(`/${name}`, { throwIfNoEntry: false })
    const there = join(root, name)
    if (found?.isDirectory()) mkdirSync(there, { recursive: true })
    const isNew = lstatSync(there, { throwIfNoEntry: false }) === undefined
    if (found?.isSymbolicLink() && isNew) symlinkSync(readlinkSync(`/${name}`), there)
  }
}

/** The commands that mount what the process shall see. The volumes are mounted before the rest can only be read. */
function mounts({ root, volumes }: Image, node: string): readonly string[] {
  const folders = systemFolders.filter((name) =>
    lstatSync(join(root, name), { throwIfNoEntry: false })?.isDirectory(),
  )
  const programs = join(root, 'usr/local/bin')
  return [
    bind(root, root),
    ...folders.map((name) => bind(`/${name}`, join(root, name))),
    ...volumes.map((path) => bind(join(root, path), join(root, path))),
    `mount -t tmpfs tmpfs '${programs}'`,
    `touch '${programs}/node'`,
    bind(node, join(programs, 'node')),
    `mount -t tmpfs tmpfs '${join(root, 'tmp')}'`,
    ...[root, join(root, 'usr'), join(root, 'etc')].map(
      (path) => `mount -o remount,bind,ro '${path}'`,
    ),
  ]
}

function bind(from: string, to: string): string {
  return `mount --bind '${from}' '${to}'`
}
