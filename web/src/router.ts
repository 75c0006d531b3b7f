import { createRouter, type RouteLocationRaw, type Router, type RouterHistory } from 'vue-router'

import { insist } from '@/ui/lazy'

/** What the router needs to know of the window. */
export interface Gate {
  /** Resolves when Core has said what this window is. */
  registered: Promise<void>
  /** Whether the window has a Workspace. */
  bound: () => boolean
}

/** makeRouter makes the routes of the page. Until the window is registered no route is entered. */
export function makeRouter(history: RouterHistory, gate: Gate): Router {
  const home = (): RouteLocationRaw => (gate.bound() ? '/chat' : '/')
  const router = createRouter({
    history,
    routes: [
      { path: '/', name: 'launcher', component: insist(() => import('@/launcher/LauncherPage.vue')) },
      { path: '/chat/:id?', name: 'chat', component: insist(() => import('@/chat/ChatPage.vue')) },
      {
        path: '/settings',
        component: insist(() => import('@/settings/SettingsPage.vue')),
        redirect: () => ({ name: 'preferences', query: {} }),
        children: [
          { path: 'preferences', name: 'preferences', component: insist(() => import('@/settings/PreferencesPage.vue')) },
          { path: 'acp-agents', name: 'agents', component: insist(() => import('@/settings/AgentsPage.vue')) },
        ],
      },
      { path: '/:rest(.*)*', redirect: home },
    ],
  })
  router.beforeEach(async (to) => {
    await gate.registered
    const fits = gate.bound() === (to.name !== 'launcher')
    return fits ? true : home()
  })
  return router
}
