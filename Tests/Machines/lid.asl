// A laptop's lid. Reading the attribute `sun` of TEST0001 closes it, that of TEST0002 opens it:
//   cat /sys/bus/acpi/devices/TEST0001:00/sun
DefinitionBlock ("", "SSDT", 2, "TEST", "LID", 1)
{
    Scope (\_SB)
    {
        Name (LOPN, One)
        Device (LID0)
        {
            Name (_HID, EisaId ("PNP0C0D"))
            Method (_STA) { Return (0x0F) }
            Method (_LID) { Return (LOPN) }
        }
        Device (LCLS)
        {
            Name (_HID, "TEST0001")
            Method (_STA) { Return (0x0F) }
            Method (_SUN) { LOPN = Zero Notify (LID0, 0x80) Return (One) }
        }
        Device (LOPE)
        {
            Name (_HID, "TEST0002")
            Method (_STA) { Return (0x0F) }
            Method (_SUN) { LOPN = One Notify (LID0, 0x80) Return (One) }
        }
    }
}
