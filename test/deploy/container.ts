import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './dockerfile.ts'

/** Runs a process of an image as a container runtime does, as far as the machine allows it. */

/** Options for a process of an image. */
export interface Start {
  readonly words: readonly string[]
  /** Overrides the environment of the image. */
  readonly env: Readonly<Record<string, string>>
  /** The Node program that replaces the one of the base image. */
  readonly node: string
}

/** Returns whether a process can have its own root folder here: on Linux, as root, if mount namespaces are allowed. */
export function canIsolate(): boolean {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  return isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0
}

/**
 * Starts a process of an image. If `canIsolate()`, its root is the image, of which it can write only to the volumes and /tmp, and it
 * has the user of the image and no capabilities. Otherwise it is a plain process in the folder of the image.
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

/** Folders of the machine that replace those of the base image. */
const systemFolders = ['usr', 'bin', 'sbin', 'lib', 'lib64', 'etc', 'dev', 'proc'] as const

/** Creates the mount points of these folders; links stay links. */
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

/** Returns the commands that mount the folders of the process. The volumes are mounted before the rest becomes read-only. */
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
